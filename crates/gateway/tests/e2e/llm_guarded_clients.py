"""Asks models through caches and guards of the gateway with the official clients of OpenAI and Anthropic. Argument: URL of the API. The model says
what it is asked."""

import sys

import anthropic
import openai

(url,) = sys.argv[1:]
client = openai.OpenAI(base_url=url + "/v1", api_key="none", max_retries=0)
claude = anthropic.Anthropic(base_url=url, auth_token="none", max_retries=0)


def raises(kind, call, words):
    try:
        call()
    except kind as error:
        assert words in str(error), error
        return
    raise AssertionError(f"no {kind}")


def said(text):
    return [{"role": "user", "content": text}]


# The first of each is asked, the others are kept answers: whole and in streams, of each API.
for mail in ("jane@example.com", "john@example.org"):
    text = f"Write to {mail}, please."
    for number in range(2):
        raw = client.chat.completions.with_raw_response.create(model="m", messages=said(text))
        is_first = mail.startswith("jane") and number == 0
        assert raw.headers["x-tollgate-llm-cache"] == ("miss" if is_first else "hit"), raw.headers
        assert raw.parse().choices[0].message.content == text and raw.parse().choices[0].finish_reason == "stop"
        chunks = list(client.chat.completions.create(model="m", messages=said(text), stream=True))
        assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == text, chunks
        assert chunks[-1].choices[0].finish_reason == "stop"
        usage = {"include_usage": True}
        chunks = list(client.chat.completions.create(model="m", messages=said(text), stream=True, stream_options=usage))
        assert chunks[-1].usage.total_tokens == 8, chunks[-1]
        answer = client.responses.create(model="m", input=text)
        assert answer.output_text == text and answer.status == "completed", answer
        with client.responses.stream(model="m", input=text) as stream:
            deltas = "".join(event.delta for event in stream if event.type == "response.output_text.delta")
            assert deltas == text and stream.get_final_response().output_text == text, deltas
        answer = claude.messages.create(model="m", max_tokens=50, messages=said(text))
        assert answer.content[0].text == text and answer.stop_reason == "end_turn" and answer.usage.output_tokens == 3, answer
        with claude.messages.stream(model="m", max_tokens=50, messages=said(text)) as stream:
            assert "".join(stream.text_stream) == text
            assert stream.get_final_message().content[0].text == text

words = "the guard `words` refuses this request"
raises(openai.PermissionDeniedError, lambda: client.chat.completions.create(model="m", messages=said("forbidden")), words)
raises(openai.PermissionDeniedError, lambda: client.responses.create(model="m", input="forbidden"), words)
raises(openai.PermissionDeniedError, lambda: client.embeddings.create(model="m", input="forbidden"), words)
raises(anthropic.PermissionDeniedError, lambda: claude.messages.create(model="m", max_tokens=9, messages=said("forbidden")), words)
words = "the guard `answers` refuses this answer"
raises(openai.PermissionDeniedError, lambda: client.chat.completions.create(model="m", messages=said("is unwanted")), words)
raises(openai.APIError, lambda: list(client.chat.completions.create(model="m", messages=said("is unwanted"), stream=True)), words)
raises(openai.APIError, lambda: list(client.responses.create(model="m", input="is unwanted", stream=True)), words)
raises(anthropic.PermissionDeniedError, lambda: claude.messages.create(model="m", max_tokens=9, messages=said("is unwanted")), words)


def read_all():
    with claude.messages.stream(model="m", max_tokens=50, messages=said("is unwanted")) as stream:
        list(stream)


raises(anthropic.APIStatusError, read_all, words)
print("all is well")
