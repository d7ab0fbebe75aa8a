"""What the official OpenAI client for Python makes of a running server. It is
run by clients_test.go."""

import os
import re

import openai

base, key = os.environ["MANIFOLD_BASE"], os.environ["MANIFOLD_KEY"]
client = openai.OpenAI(base_url=base, api_key=key)
READ = [{"role": "user", "content": "what is the stock price of Apple"}]


def models():
    assert [m.id for m in client.models.list()] == ["manifold", "manifold-finance"]
    assert client.models.retrieve("manifold").id == "manifold"


def in_one_piece():
    out = client.chat.completions.create(model="manifold", messages=READ)
    assert "AAPL" in out.choices[0].message.content and out.choices[0].finish_reason == "stop"


def streamed():
    text, usage = "", None
    stream = client.chat.completions.create(
        model="manifold", messages=READ, stream=True, stream_options={"include_usage": True},
        extra_headers={"X-OpenWebUI-Chat-Id": "pypi-1"},
    )
    for chunk in stream:
        if chunk.choices:
            text += chunk.choices[0].delta.content or ""
        usage = chunk.usage or usage
    assert "AAPL" in text and usage is not None
    with client.chat.completions.stream(model="manifold", messages=READ) as helper:
        assert "AAPL" in helper.get_final_completion().choices[0].message.content


def a_write_approved_in_the_chat():
    messages = [{"role": "user", "content": "set an alert for MSFT above 500"}]
    text = client.chat.completions.create(model="manifold", messages=messages).choices[0].message.content
    code = re.search(r"approve ([2-9A-Z]{5})`", text).group(1)
    messages += [{"role": "assistant", "content": text}, {"role": "user", "content": f"approve {code}"}]
    done = client.chat.completions.create(model="manifold", messages=messages).choices[0].message.content
    assert f"{code} is approved" in done and "verified: read back" in done, done


def abort():
    with client.chat.completions.create(model="manifold", messages=READ, stream=True) as stream:
        assert next(iter(stream)).choices[0].delta.role == "assistant"


def errors():
    for make, kind in (
        (lambda: openai.OpenAI(base_url=base, api_key="mfk_wrong").models.list(), openai.AuthenticationError),
        (lambda: client.chat.completions.create(model="gpt-4", messages=READ), openai.NotFoundError),
        (lambda: client.chat.completions.create(model="manifold", messages=[]), openai.BadRequestError),
        (lambda: client.embeddings.create(model="manifold", input="x"), openai.NotFoundError),
    ):
        try:
            make()
        except kind:
            continue
        raise AssertionError(f"{kind} was not raised")


for test in (models, in_one_piece, streamed, a_write_approved_in_the_chat, abort, errors):
    test()
    print("ok python:", test.__name__)
