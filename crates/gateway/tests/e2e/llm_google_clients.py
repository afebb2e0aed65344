"""Calls models through the gateway with Google's official client. Arguments: URL of the API, key of the gateway, a key whose budget `tiny` is
used up."""

import sys

from google import genai
from google.genai import errors, types
from pydantic import BaseModel

url, key, poor = sys.argv[1:]


def client_with(credential):
    options = types.HttpOptions(base_url=url, retry_options=types.HttpRetryOptions(attempts=1))
    return genai.Client(api_key=credential, http_options=options)


client, poor_client, stranger = client_with(key), client_with(poor), client_with("wrong")


class Answer(BaseModel):
    place: str


def raises(call, code, words):
    try:
        call()
    except errors.APIError as error:
        assert error.code == code and words in str(error), error
        return
    raise AssertionError(f"no error {code}")


def weather(place: str) -> str:
    """The weather at a place."""
    places.append(place)
    return "sunny"


BY_SCHEMA = types.FunctionDeclaration(
    name="weather", description="The weather", parameters=types.Schema(type="OBJECT", properties={"place": types.Schema(type="STRING")})
)
BY_JSON_SCHEMA = types.FunctionDeclaration(
    name="weather", parameters_json_schema={"type": "object", "properties": {"place": {"type": "string"}}}
)

for model in ("a", "team/b", "c"):
    # Texts, with all that other providers understand.
    config = types.GenerateContentConfig(
        system_instruction="Be short.", temperature=0.5, max_output_tokens=100, stop_sequences=["END"], candidate_count=1,
        safety_settings=[types.SafetySetting(category="HARM_CATEGORY_HARASSMENT", threshold="BLOCK_NONE")],
    )
    answer = client.models.generate_content(model=model, contents="Hi", config=config)
    assert answer.text == "You said: Hi" and answer.candidates[0].finish_reason == types.FinishReason.STOP, answer
    assert answer.usage_metadata.total_token_count == 10, answer
    chunks = list(client.models.generate_content_stream(model=model, contents="Hi", config=config))
    assert "".join(chunk.text or "" for chunk in chunks) == "You said: Hi" and len(chunks) > 2, chunks
    assert chunks[-1].usage_metadata.total_token_count == 10 and chunks[-1].candidates[0].finish_reason == types.FinishReason.STOP
    picture = types.Part.from_bytes(data=b"\xff\xfe\xfd\x00", mime_type="image/png")
    assert client.models.generate_content(model=model, contents=["Hi", picture]).text.startswith("You said")

    # JSON by a schema, of both kinds.
    for schema in ({"response_schema": Answer}, {"response_json_schema": {**Answer.model_json_schema(), "additionalProperties": False}}):
        config = types.GenerateContentConfig(response_mime_type="application/json", **schema)
        answer = client.models.generate_content(model=model, contents="Hi", config=config)
        assert answer.text == '{"place":"Bonn"}', answer
        assert "response_schema" not in schema or answer.parsed == Answer(place="Bonn"), answer

    # Calls and results, by hand and by the client itself, whole and as a stream.
    for declaration in (BY_SCHEMA, BY_JSON_SCHEMA):
        config = types.GenerateContentConfig(
            tools=[types.Tool(function_declarations=[declaration])],
            tool_config=types.ToolConfig(function_calling_config=types.FunctionCallingConfig(mode="AUTO")),
        )
        answer = client.models.generate_content(model=model, contents="Weather?", config=config)
        [call] = answer.function_calls
        assert (call.name, call.args) == ("weather", {"place": "Bonn"}), answer
        streamed = list(client.models.generate_content_stream(model=model, contents="Weather?", config=config))
        assert [(call.name, call.args) for chunk in streamed for call in chunk.function_calls or []] == [("weather", {"place": "Bonn"})]
        result = types.Part.from_function_response(name="weather", response={"output": "sunny"})
        question = types.Content(role="user", parts=[types.Part(text="Weather?")])
        for said in ([answer.candidates[0].content], [chunk.candidates[0].content for chunk in streamed]):
            contents = [question, *said, types.Content(role="user", parts=[result])]
            assert client.models.generate_content(model=model, contents=contents, config=config).text.startswith("You said")
    places = []
    chat = client.chats.create(model=model, config=types.GenerateContentConfig(tools=[weather]))
    assert chat.send_message("Weather?").text.startswith("You said") and places == ["Bonn"], places
    assert chat.send_message("Again").text
    chat = client.chats.create(model=model)
    assert "".join(chunk.text or "" for chunk in chat.send_message_stream("Hi")) == "You said: Hi"
    assert "".join(chunk.text or "" for chunk in chat.send_message_stream("More")) == "You said: More"
    assert len(chat.get_history(curated=True)) >= 4, chat.get_history(curated=True)

    raises(lambda: poor_client.models.generate_content(model=model, contents="Hi"), 429, "the budget `tiny` of the key (1 tokens per month)")
    raises(lambda: list(poor_client.models.generate_content_stream(model=model, contents="Hi")), 429, "RESOURCE_EXHAUSTED")
    assert client.models.get(model=f"models/{model}").name == f"models/{model}"

config = types.EmbedContentConfig(output_dimensionality=2, task_type="RETRIEVAL_QUERY")
for model in ("a", "c"):
    answer = client.models.embed_content(model=model, contents=["one", "two"], config=config)
    assert [embedding.values for embedding in answer.embeddings] == [[0.5, 0.0], [0.5, 1.0]], answer
    raises(lambda: poor_client.models.embed_content(model=model, contents="one or two words"), 429, "RESOURCE_EXHAUSTED")
raises(lambda: client.models.embed_content(model="team/b", contents="one"), 400, "no embeddings")

assert [model.name for model in client.models.list()] == ["models/a", "models/c", "models/team/b"]
assert client.models.count_tokens(model="c", contents="Hi").total_tokens == 42
raises(lambda: client.models.count_tokens(model="a", contents="Hi"), 404, "does not count tokens")
raises(lambda: client.models.generate_content(model="other", contents="Hi"), 404, "there are: a, c, team/b")
raises(lambda: client.models.generate_content(model="team/b", contents="fail"), 400, "It is wrong")
raises(lambda: list(client.models.generate_content_stream(model="team/b", contents="break")), 503, "Overloaded")
config = types.GenerateContentConfig(candidate_count=2)
raises(lambda: client.models.generate_content(model="a", contents="Hi", config=config), 400, "`generationConfig.candidateCount`")
raises(lambda: stranger.models.generate_content(model="a", contents="Hi"), 403, "")
print("all is well")
