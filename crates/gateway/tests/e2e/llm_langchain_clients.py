"""Asks models through the gateway with LangChain's clients of three APIs. Arguments: URL of the API, key of the gateway."""

import asyncio
import sys

import openai
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_google_genai import ChatGoogleGenerativeAI, GoogleGenerativeAIEmbeddings
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from pydantic import BaseModel

url, key = sys.argv[1:]
own_key = {"Authorization": f"Bearer {key}"}


class Answer(BaseModel):
    """Where it is."""

    place: str


@tool
def weather(place: str) -> str:
    """The weather at a place."""
    return f"sunny in {place}"


def clients(model):
    yield ChatOpenAI(model=model, base_url=f"{url}/v1", api_key=key, max_retries=0, stream_usage=True)
    if model != "a":
        yield ChatOpenAI(model=model, base_url=f"{url}/v1", api_key=key, max_retries=0, use_responses_api=True)
    yield ChatAnthropic(model=model, base_url=url, api_key="none", max_tokens=50, max_retries=0, default_headers=own_key)
    yield ChatGoogleGenerativeAI(model=model, base_url=url, api_key="none", max_retries=1, additional_headers=own_key)


async def streamed(client):
    return "".join([piece.text async for piece in client.astream("Hi")])


# The clients of one kind share their connections, and so a loop.
loop = asyncio.new_event_loop()
for model in ("a", "team/b", "c"):
    for client in clients(model):
        name = f"{type(client).__name__} {model}"
        answer = client.invoke("Hi")
        assert answer.text == "You said: Hi" and answer.usage_metadata["total_tokens"] == 10, f"{name}: {answer}"
        whole = None
        for piece in client.stream("Hi"):
            whole = piece if whole is None else whole + piece
        assert whole.text == "You said: Hi" and whole.usage_metadata["total_tokens"] == 10, f"{name}: {whole}"
        assert loop.run_until_complete(streamed(client)) == "You said: Hi", name

        with_tools = client.bind_tools([weather])
        question = HumanMessage("Weather?")
        called = with_tools.invoke([question])
        [call] = called.tool_calls
        assert (call["name"], call["args"]) == ("weather", {"place": "Bonn"}), f"{name}: {called}"
        whole = None
        for piece in with_tools.stream([question]):
            whole = piece if whole is None else whole + piece
        assert [call["args"] for call in whole.tool_calls] == [{"place": "Bonn"}], f"{name}: {whole}"
        for said in (called, whole):
            [call] = said.tool_calls
            result = weather.invoke(call)
            assert isinstance(result, ToolMessage), result
            assert with_tools.invoke([question, said, result]).text.startswith("You said"), name

        for method in ("json_schema", "function_calling"):
            if method == "function_calling" and model == "c" and isinstance(client, ChatOpenAI):
                # It asks for one call at a time, which Gemini cannot promise.
                try:
                    client.with_structured_output(Answer, method=method).invoke("Where?")
                except openai.BadRequestError as error:
                    assert "`parallel_tool_calls`" in str(error), error
                    continue
                raise AssertionError(f"{name} {method}")
            assert client.with_structured_output(Answer, method=method).invoke("Where?") == Answer(place="Bonn"), f"{name} {method}"

for model in ("a", "c"):
    google = GoogleGenerativeAIEmbeddings(model=model, base_url=url, google_api_key="none", additional_headers=own_key)
    # Its texts would go as tokens, of which another provider knows nothing.
    other = OpenAIEmbeddings(model=model, base_url=f"{url}/v1", api_key=key, check_embedding_ctx_length=False)
    for client in (google, other):
        name = f"{type(client).__name__} {model}"
        assert client.embed_query("one") == [0.5, 0.0], name
        assert client.embed_documents(["one", "two"]) == [[0.5, 0.0], [0.5, 1.0]], name
print("all is well")
