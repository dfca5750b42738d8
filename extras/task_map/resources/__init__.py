"""Task vectors in safetensors, adapters of LoRA or whole fine-tuned weights; and pages of maps.

`products.py` reads a folder with one folder a task; `tensor_files.py` opens files, `adapters.py` and
`products.py` know what is in them. Nothing here reads pickles.
"""
