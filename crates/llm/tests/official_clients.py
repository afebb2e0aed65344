"""Calls the server whose URL is the argument with the official clients, and checks what they understand."""

import sys

import anthropic
import openai
from google import genai
from google.genai import errors, types

url = sys.argv[1]
client = openai.OpenAI(base_url=url + "/v1", api_key="k", max_retries=0)
google = genai.Client(api_key="k", http_options=types.HttpOptions(base_url=url, retry_options=types.HttpRetryOptions(attempts=1)))
claude = anthropic.Anthropic(base_url=url, api_key="k", max_retries=0)
QUESTION = [{"role": "user", "content": "Hi"}]
TEXT = "Grüezi 🦀"
TOOLS = [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}]
FLAT_TOOLS = [{"type": "function", "name": "weather", "parameters": {"type": "object"}, "strict": False}]
CLAUDE_TOOLS = [{"name": "weather", "input_schema": {"type": "object"}}]
CALLS = [("toolu_1", "weather", '{"city":"Bern"}'), ("toolu_2", "now", "{}")]


def raises(kind, call, words):
    try:
        call()
    except kind as error:
        assert words in str(error), error
        return error
    raise AssertionError(f"no {kind}")


def chat():
    answer = client.chat.completions.create(model="m", messages=QUESTION)
    assert answer.choices[0].message.content == TEXT and answer.choices[0].finish_reason == "stop"
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens, answer.usage.prompt_tokens_details.cached_tokens) == (7, 3, 2)
    chunks = list(client.chat.completions.create(model="m", messages=QUESTION, stream=True))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == TEXT
    assert all(chunk.usage is None for chunk in chunks)
    chunks = list(client.chat.completions.create(model="m", messages=QUESTION, stream=True, stream_options={"include_usage": True}))
    assert chunks[-1].choices == [] and chunks[-1].usage.total_tokens == 10
    answer = client.chat.completions.create(model="m", messages=QUESTION, tools=TOOLS)
    calls = answer.choices[0].message.tool_calls
    assert [(call.id, call.function.name, call.function.arguments) for call in calls] == CALLS
    assert answer.choices[0].finish_reason == "tool_calls" and answer.choices[0].message.content is None
    # The client's own assembling of a stream.
    with client.chat.completions.stream(model="m", messages=QUESTION, tools=TOOLS) as stream:
        message = stream.get_final_completion().choices[0].message
    assert [(call.id, call.function.name, call.function.arguments or "{}") for call in message.tool_calls] == CALLS
    again = QUESTION + [answer.choices[0].message.model_dump(), {"role": "tool", "tool_call_id": "toolu_1", "content": "sunny"}]
    assert client.chat.completions.create(model="m", messages=again).choices[0].message.content == TEXT
    raises(openai.RateLimitError, lambda: client.chat.completions.create(model="busy", messages=QUESTION), "Slow down")
    raises(openai.NotFoundError, lambda: client.chat.completions.create(model="unknown", messages=QUESTION), "no such model")
    raises(openai.BadRequestError, lambda: client.chat.completions.create(model="m", messages=QUESTION, n=2), "`n`")
    raises(openai.APIError, lambda: list(client.chat.completions.create(model="broken", messages=QUESTION, stream=True)), "ended in the middle")


def responses():
    answer = client.responses.create(model="m", input="Hi")
    assert answer.output_text == TEXT and answer.status == "completed" and answer.usage.total_tokens == 10
    with client.responses.stream(model="m", input="Hi") as stream:
        events = list(stream)
        assert stream.get_final_response().output_text == TEXT
    assert [event.sequence_number for event in events if hasattr(event, "sequence_number")] == list(range(len(events)))
    answer = client.responses.create(model="m", input="Hi", tools=FLAT_TOOLS)
    calls = [item for item in answer.output if item.type == "function_call"]
    assert [(call.call_id, call.name, call.arguments) for call in calls] == CALLS
    with client.responses.stream(model="m", input="Hi", tools=FLAT_TOOLS) as stream:
        streamed = stream.until_done().get_final_response()
    assert [item.type for item in streamed.output] == [item.type for item in answer.output] == ["reasoning", "function_call", "function_call"]
    output = {"type": "function_call_output", "call_id": "toolu_1", "output": "sunny"}
    again = [{"role": "user", "content": "Hi"}] + [item.model_dump(exclude_none=True) for item in answer.output] + [output]
    assert client.responses.create(model="m", input=again).output_text == TEXT
    raises(openai.RateLimitError, lambda: client.responses.create(model="busy", input="Hi"), "Slow down")
    raises(openai.APIError, lambda: list(client.responses.create(model="broken", input="Hi", stream=True)), "ended in the middle")


def messages():
    answer = claude.messages.create(model="m", max_tokens=50, messages=QUESTION)
    assert answer.content[0].text == TEXT and answer.stop_reason == "end_turn"
    assert (answer.usage.input_tokens, answer.usage.cache_read_input_tokens, answer.usage.output_tokens) == (5, 2, 3)
    with claude.messages.stream(model="m", max_tokens=50, messages=QUESTION) as stream:
        assert "".join(stream.text_stream) == TEXT
        assert stream.get_final_message().usage.input_tokens == 5
    answer = claude.messages.create(model="m", max_tokens=50, messages=QUESTION, tools=CLAUDE_TOOLS)
    with claude.messages.stream(model="m", max_tokens=50, messages=QUESTION, tools=CLAUDE_TOOLS) as stream:
        streamed = stream.get_final_message()
    for message in (answer, streamed):
        assert [block.type for block in message.content] == ["thinking", "tool_use", "tool_use"]
        assert message.content[0].signature == "sig" and message.stop_reason == "tool_use"
        assert [(block.id, block.name, block.input) for block in message.content[1:]] == [("toolu_1", "weather", {"city": "Bern"}), ("toolu_2", "now", {})]
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "sunny"}
    again = QUESTION + [{"role": "assistant", "content": answer.content}, {"role": "user", "content": [result]}]
    assert claude.messages.create(model="m", max_tokens=50, messages=again).content[0].text == TEXT
    raises(anthropic.RateLimitError, lambda: claude.messages.create(model="busy", max_tokens=50, messages=QUESTION), "Slow down")
    raises(anthropic.BadRequestError, lambda: claude.messages.create(model="m", max_tokens=50, messages=QUESTION, container="x"), "`container`")

    def broken():
        with claude.messages.stream(model="broken", max_tokens=50, messages=QUESTION) as stream:
            stream.get_final_message()

    raises(anthropic.APIError, broken, "ended in the middle")


def embeddings():
    answer = client.embeddings.create(model="m", input=["a", "b"])
    assert [item.embedding for item in answer.data] == [[0.25, -1.0], [0.5, 0.125]] and answer.usage.total_tokens == 4


def contents():
    generate, stream = google.models.generate_content, google.models.generate_content_stream
    answer = generate(model="m", contents="Hi")
    assert answer.text == TEXT and answer.candidates[0].finish_reason == types.FinishReason.STOP
    usage = answer.usage_metadata
    assert (usage.prompt_token_count, usage.candidates_token_count, usage.cached_content_token_count) == (7, 3, 2)
    chunks = list(stream(model="m", contents="Hi"))
    assert "".join(chunk.text or "" for chunk in chunks) == TEXT and chunks[-1].usage_metadata.total_token_count == 10
    declarations = [types.FunctionDeclaration(name=name, parameters=types.Schema(type="OBJECT")) for name in ("weather", "now")]
    config = types.GenerateContentConfig(tools=[types.Tool(function_declarations=declarations)])
    answer = generate(model="m", contents="Hi", config=config)
    whole = [answer.candidates[0].content]
    streamed = [chunk.candidates[0].content for chunk in stream(model="m", contents="Hi", config=config)]
    for said in (whole, streamed):
        parts = [part for content in said for part in content.parts]
        calls = [part.function_call for part in parts if part.function_call]
        assert [(call.id, call.name, call.args) for call in calls] == [("toolu_1", "weather", {"city": "Bern"}), ("toolu_2", "now", {})]
        assert "".join(part.text for part in parts if part.thought) == "Hm" and any(part.thought_signature for part in parts)
        results = [types.Part.from_function_response(name=call.name, response={"output": "sunny"}) for call in calls]
        again = [types.UserContent("Hi"), *said, types.UserContent(results)]
        assert generate(model="m", contents=again).text == TEXT
    busy = raises(errors.ClientError, lambda: generate(model="busy", contents="Hi"), "Slow down")
    assert (busy.code, busy.status) == (429, "RESOURCE_EXHAUSTED")
    raises(errors.ClientError, lambda: generate(model="unknown", contents="Hi"), "no such model")
    config = types.GenerateContentConfig(candidate_count=2)
    raises(errors.ClientError, lambda: generate(model="m", contents="Hi", config=config), "`generationConfig.candidateCount`")
    raises(errors.ServerError, lambda: list(stream(model="broken", contents="Hi")), "ended in the middle")


chat()
contents()
responses()
messages()
embeddings()
