"""What the name of a candidate says of it."""

import pytest

from methods.evaluation.candidates import BASELINES, ablation_of, is_model, model_of


@pytest.mark.parametrize(
    ("name", "has_rank", "ablation", "model"),
    [
        ("gpt-4o", True, None, "gpt-4o"),
        ("qwen3-vl:8b", True, None, "qwen3-vl:8b"),
        ("no-images", True, None, "no-images"),
        ("no-images:gpt-4o", False, "no-images", "gpt-4o"),
        ("other-images:qwen3-vl:8b", False, "other-images", "qwen3-vl:8b"),
        *((name, False, None, None) for name in BASELINES),
    ],
)
def test_a_name_says_who_is_asked_and_whether_it_has_a_rank(name, has_rank, ablation, model):
    assert (is_model(name), ablation_of(name), model_of(name)) == (has_rank, ablation, model)
