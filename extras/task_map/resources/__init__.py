"""Task vectors from safetensors, of LoRA adapters or complete fine-tuned weights, and pages of maps.

`products.py` reads a folder with one folder per task; `tensor_files.py` opens files, and `adapters.py`
and `products.py` interpret them. Pickles are never read.
"""
