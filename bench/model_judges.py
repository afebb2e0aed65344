"""Judges of answers of gateways of language models: each says whether the answer to its case's question is yes, and what it has seen."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable

from model_provider import ARGUMENTS, KEY, TEXT, Provider


@dataclasses.dataclass
class Answer:
    """What a client got. Status 0: nothing."""

    status: int
    lines: dict
    text: str
    is_cut: bool = False

    @property
    def events(self) -> list[dict]:
        told = (line[5:].strip() for line in self.text.splitlines() if line.startswith("data:"))
        return [json.loads(data) for data in told if data and data != "[DONE]"]

    @property
    def document(self) -> dict:
        try:
            document = json.loads(self.text)
        except ValueError:
            return {}
        return document if isinstance(document, dict) else {}


# A judgement: whether the answer to the case's question is yes, and what was seen.
Judgement = tuple[bool, str]
Judge = Callable[[Answer, Provider], Judgement]


def names_it(member: str, model: str) -> Judge:
    """Whether a member that the provider does not have is refused, here or by the provider, which is sent it."""

    def judge(answer: Answer, provider: Provider) -> Judgement:
        if answer.status == 400 and member in answer.text:
            return True, "400, names it"
        if answer.status == 200:
            bodies = provider.of(model).bodies
            is_sent = bool(bodies) and member in json.dumps(bodies[-1])
            return is_sent, "sent to the provider" if is_sent else "lost without a word"
        return False, f"{answer.status}, does not name it"

    return judge


def is_called(answer: Answer, _: Provider) -> Judgement:
    """Whether a call of a tool comes whole, with arguments that are those of the model."""
    if answer.status != 200:
        return False, f"{answer.status}"
    messages = [event["choices"][0]["delta"] for event in answer.events if event.get("choices")]
    messages = messages or [answer.document.get("choices", [{}])[0].get("message", {})]
    calls = [call for message in messages for call in message.get("tool_calls") or []]
    names = "".join(call["function"].get("name") or "" for call in calls)
    arguments = "".join(call["function"].get("arguments") or "" for call in calls)
    try:
        is_right = names == "weather" and json.loads(arguments) == json.loads(ARGUMENTS)
    except ValueError:
        is_right = False
    return is_right, "whole" if is_right else f"{names}({arguments})"


def result_goes_back(answer: Answer, provider: Provider) -> Judgement:
    sent = json.dumps(provider.of("a-back").bodies[-1:])
    is_there = answer.status == 200 and all(word in sent for word in ("tool_result", "call_1", "sunny"))
    return is_there, "there" if is_there else f"{answer.status}"


def learns(answer: Answer, _: Provider) -> Judgement:
    """Whether a client learns that its stream is not whole."""
    if answer.status != 200:
        return answer.status >= 500, f"{answer.status}"
    if '"error"' in answer.text:
        return True, "an error in the stream"
    if answer.is_cut:
        return True, "the connection breaks"
    return False, "ends as if it were whole" if "[DONE]" in answer.text else "ends without a word"


def is_whole(answer: Answer, _: Provider) -> Judgement:
    pieces = [event["choices"][0]["delta"].get("content") or "" for event in answer.events if event.get("choices")]
    text = "".join(pieces)
    is_right = text == TEXT and "[DONE]" in answer.text
    return is_right, "whole" if is_right else f"{answer.status}, {len(text)} of {len(TEXT)} letters"


def is_large(answer: Answer, _: Provider) -> Judgement:
    is_right = answer.text.count("x") >= 2 << 20 and "[DONE]" in answer.text
    return is_right, "whole" if is_right else f"{answer.status}, {len(answer.text)} bytes"


def told_as(statuses: range, lines: tuple[str, ...] = ()) -> Judge:
    """Whether an error has such a status and the form of the client's API, and nothing of the provider's key in it."""

    def judge(answer: Answer, _: Provider) -> Judgement:
        error = answer.document.get("error")
        if KEY in answer.text:
            return False, f"{answer.status} with the provider's key"
        if not isinstance(error, dict) or not error.get("message"):
            return False, f"{answer.status} in no form"
        missing = [line for line in lines if line not in answer.lines]
        seen = f"{answer.status}" + "".join(f", no {line}" for line in missing)
        return answer.status in statuses and not missing, seen

    return judge


def is_answered(answer: Answer, _: Provider) -> Judgement:
    is_right = answer.status == 200 and TEXT[:3] in answer.text and '"error"' not in answer.text
    return is_right, "the second answers" if is_right else f"{answer.status}"
