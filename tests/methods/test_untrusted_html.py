from methods.untrusted_html import parse_html


def test_formatting_does_not_multiply_with_the_blocks():
    html = "".join(f"<b a={i}>" for i in range(100)) + "<p>x" * 100
    page = parse_html(html, len(html), is_fragment=False)
    assert len(page.css("*")) == 3 + 200, "html, head and body, and one element a tag"


def test_what_follows_the_limit_is_not_read():
    page = parse_html("<i>one</i><a>two", 11, is_fragment=True)
    assert page.text() == "one<"
