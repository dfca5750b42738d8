"""A model whose calls cost dollars that can be worked out by hand, for tests of budgets."""

from methods.prompts.messages import Message
from resources.llm.request import ChatRequest

# A dollar a token, and the stand-in counts characters: 12 asked and 12 + 18 answered are $42. At most a
# call may cost a token a byte, 8 for the message and its 50 answered: 12 + 8 + 50 = $70.
TEXTS = [f"Question {number:02}?" for number in range(40)]
COST, MOST = 42, 70
MODELS = """
profiles: {{p: {{writer: it, judge: it, evaluate: [it]}}}}
models:
  it:
    provider: openai
    base_url: "{url}"
    concurrency: 8
    price: {{prompt: 1000000, completion: 1000000}}
"""


def requests(texts: list[str]) -> list[ChatRequest]:
    return [
        ChatRequest("it", (Message.from_text("user", text),), "test/budget@1", {"max_tokens": 50})
        for text in texts
    ]
