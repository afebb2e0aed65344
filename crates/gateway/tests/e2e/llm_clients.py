"""Calls models through the gateway with the official clients of OpenAI and Anthropic. Arguments: URL of the API, key of the gateway, a key whose
budget `tiny` is used up."""

import sys

import anthropic
import openai

url, key, poor = sys.argv[1:]
client = openai.OpenAI(base_url=url + "/v1", api_key=key, max_retries=0)
claude = anthropic.Anthropic(base_url=url, auth_token=key, max_retries=0)
QUESTION = [{"role": "user", "content": "Hi"}]


def raises(kind, call, words):
    try:
        call()
    except kind as error:
        assert words in str(error), error
        return
    raise AssertionError(f"no {kind}")


for model in ("a", "b", "c"):
    answer = client.chat.completions.create(model=model, messages=QUESTION)
    assert answer.choices[0].message.content == "Hello" and answer.usage.total_tokens > 9, answer
    chunks = list(client.chat.completions.create(model=model, messages=QUESTION, stream=True))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "Hello"
    chunks = list(client.chat.completions.create(model=model, messages=QUESTION, stream=True, stream_options={"include_usage": True}))
    assert chunks[-1].usage.total_tokens > 9
    answer = client.responses.create(model=model, input="Hi")
    assert answer.output_text == "Hello" and answer.status == "completed", answer
    if model != "a":
        with client.responses.stream(model=model, input="Hi") as stream:
            assert stream.until_done().get_final_response().output_text == "Hello"
    answer = claude.messages.create(model=model, max_tokens=50, messages=QUESTION)
    assert answer.content[0].text == "Hello" and answer.stop_reason == "end_turn" and answer.usage.input_tokens > 6, answer
    with claude.messages.stream(model=model, max_tokens=50, messages=QUESTION) as stream:
        assert "".join(stream.text_stream) == "Hello"

assert client.embeddings.create(model="e", input="a").data[0].embedding == [0.5]
assert claude.messages.count_tokens(model="b", messages=QUESTION).input_tokens == 42
assert [model.id for model in client.models.list()] == [model.id for model in claude.models.list()] == ["a", "b", "c", "e"]
assert client.models.retrieve("a").id == claude.models.retrieve("a").id == "a"
raises(openai.NotFoundError, lambda: client.chat.completions.create(model="other", messages=QUESTION), "there are: a, b, c, e")
raises(anthropic.NotFoundError, lambda: claude.messages.create(model="other", max_tokens=9, messages=QUESTION), "there are: a, b, c, e")
raises(anthropic.NotFoundError, lambda: claude.messages.count_tokens(model="a", messages=QUESTION), "does not count tokens")
raises(openai.BadRequestError, lambda: client.chat.completions.create(model="b", messages=QUESTION, n=2), "`n`")
raises(openai.PermissionDeniedError, lambda: client.with_options(api_key="wrong").chat.completions.create(model="a", messages=QUESTION), "")
words = "the budget `tiny` of the key (1 tokens per month)"
raises(openai.RateLimitError, lambda: client.with_options(api_key=poor).chat.completions.create(model="a", messages=QUESTION), words)
raises(openai.RateLimitError, lambda: client.with_options(api_key=poor).responses.create(model="b", input="Hi"), words)
poor_claude = claude.with_options(auth_token=poor)
raises(anthropic.RateLimitError, lambda: poor_claude.messages.create(model="b", max_tokens=9, messages=QUESTION), words)
print("all is well")
