"""An answer in plain words: where a number lies, how it is held, why it is believed or not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

Answer = Mapping[str, Any]  # the object that ``ramsearch --json`` prints


class Verdict(NamedTuple):
    """What was found of one thing: its grade, where or what it is, and sentences on how and why."""

    grade: str
    what: str
    said: list[str]


ENCODINGS = {
    "bcd": "packed decimal, two digits a byte",
    "digits": "one digit a byte",
    "uint": "binary",
    "base100": "two decimal digits a byte, held in binary",
    "nibbles_low": "one digit in the low half of each byte",
    "nibbles_high": "one digit in the high half of each byte",
}
# Key of the answer's sieve → what its bytes have in common, and what it means that none is left.
STAGES = {
    "all": ("bytes the core offers", "The core offers no memory."),
    "changed": ("changed in play", "Nothing in RAM changed: was the game played at all?"),
    "calm": (
        "changed seldom enough for a score",
        "Whatever changed did so all the time: positions, timers, random numbers.",
    ),
    "added": (
        "were added to rather than overwritten",
        "No byte kept what was written into it and had its change added on top. Most likely random "
        "play never scored: the film strip shows how far it got.",
    ),
    "visible": (
        "change the picture when written",
        "Some bytes are added to, but none of them changes the picture soon after: the score may "
        "not be shown during play.",
    ),
    "digits": (
        "draw ten different digits in one place",
        "Some bytes are added to and change the picture, but none draws ten digits in one place: "
        "they are positions, bars or patterns, or the score is drawn some other way.",
    ),
}
GRADES = {
    "proved": "It behaves like a score, every number written before a rise came back as that "
    "number plus the points, and the screen showed it often enough.",
    "likely": "Every number written came back plus the points, but the screen confirmed it only in "
    "part; or another number is proved and weighs more; or it stood at 0 all along, in four digits "
    "or more.",
    "unproved": "It behaves like a score, nothing more. It is listed here and never written to "
    "the file.",
}


NO_LIVES = "Nothing in RAM fell like a number of lives."
UNKNOWN = Verdict("none", "not known", ["The search ended before it came to this."])


def why(evidence: Mapping[str, Any]) -> str:
    """Return a candidate's evidence as one phrase."""
    phrases = []
    if screen := evidence.get("screen"):
        phrases.append(f"{count(screen['cells'], 'digit')} on screen")
    poke = evidence.get("poke")
    if screen and poke and not poke["rises"]:
        phrases.append("which never moved")
    elif poke:
        rises, added, read = poke["rises"], poke["added"], poke["read_back"]
        back = "and read back" if read == added else f"and {read} read back"
        phrases.append(f"{added} of {count(rises, 'poke')} added up {back}")
    if screen:
        phrases.append(f"{screen['film']} frames of the film agree")
    if not screen and (moved := evidence.get("behaviour")):
        phrases.append(f"rose {moved['rises']} times, fell {moved['falls']}")
    if note := evidence.get("note"):
        phrases.append(str(note))
    return "; ".join(filter(None, [", ".join(phrases[:2]), *phrases[2:]]))


def doubts(candidate: Mapping[str, Any]) -> list[str]:
    """Return what keeps a candidate from being proved, the weightiest first; empty where it is."""
    if candidate["grade"] == "proved":
        return []
    evidence = candidate["evidence"]
    screen, poke, moved = (evidence.get(key) or {} for key in ("screen", "poke", "behaviour"))
    out = []
    if not screen:
        out.append("no digits on the screen were found that it draws")
    if screen and screen["cells"] < 2:
        out.append("only one digit on the screen follows it")
    if moved["clock"]:
        out.append("it rises at regular intervals, like a clock")
    if moved["falls"]:
        out.append(f"it fell {count(moved['falls'], 'time')}, which scores hardly ever do")
    if moved["resets"] > moved["rises"] / 5 + 2:
        out.append(f"it went back to its start {count(moved['resets'], 'time')}")
    if moved["rises"] < 2:
        out.append(f"it rose {count(moved['rises'], 'time')} in all")
    if moved["still"] < 0.95:
        out.append(f"it moves in {100 * (1 - moved['still']):.0f} % of the frames")
    if poke and not poke["rises"]:
        out.append("it never rose at a moment at which it could be written before")
    elif poke and poke["added"] < poke["rises"]:
        missed = poke["rises"] - poke["added"]
        out.append(f"after {missed} of {count(poke['rises'], 'write')} it did not add up")
    elif poke and poke["rises"] == 1:
        out.append("it could be written before one rise only")
    if screen and (film := screen["film"].split(" of "))[0] != film[-1]:
        out.append(f"the screen agrees with RAM at {screen['film']} moments")
    if screen and not screen.get("whole", True):
        out.append("digits to the right of it change too: its last places are missing")
    if note := evidence.get("note"):
        out.append(str(note))
    if not out and screen["cells"] < 4:
        out.append("it is short, and so few rises of a short number prove nothing")
    return out


def failures(answer: Answer) -> list[str]:
    """Return why there is no proved score, no start, or no proved lives, a sentence or two each."""
    if "seconds" not in answer:
        return []
    out = []
    listed = answer["candidates"] or answer["nearest"]
    if not answer["candidates"]:
        out.append(f"No score: {obstacle(answer)}")
    if listed and (said := doubts(listed[0])):
        out.append(f"0x{listed[0]['score_addrs'][0]:x} is not proved: {'; '.join(said)}.")
    known = answer.get("lives")
    if known is None:
        out.append(f"No lives: {NO_LIVES}")
    elif known["grade"] == "unproved" and (why := known["evidence"].get("why")):
        out.append(f"Lives at 0x{answer['lives_addr']:x} are not proved: {why}.")
    return out


def count(number: int, thing: str) -> str:
    """Return ``1 poke``, ``2 pokes``."""
    return f"{number:,} {thing}{'s' * (number != 1)}"


def addresses(candidate: Mapping[str, Any]) -> str:
    """Return the bytes of a candidate, most significant first."""
    text = " ".join(f"0x{addr:x}" for addr in candidate["score_addrs"])
    region = candidate.get("score_region", "SYSTEM_RAM")
    return text if region == "SYSTEM_RAM" else f"{region} {text}"


def encoding(candidate: Mapping[str, Any]) -> str:
    """Return how the bytes of a candidate hold its number."""
    if terms := candidate.get("score_terms"):
        scattered = sorted({term["encoding"] for term in terms})
        said = "; ".join(ENCODINGS.get(name, name) for name in scattered)
        return f"{said}; each place with a scale of its own"
    name = candidate["score_encoding"].removesuffix("_le").removesuffix("_be")
    out = [ENCODINGS.get(name, name)]
    if candidate["score_base"]:
        out.append(f"where 0x{candidate['score_base']:02x} is 0")
    if candidate["score_scale"] not in (0, 1):
        out.append(f"times {candidate['score_scale']:,}")
    return ", ".join(out)


def obstacle(answer: Answer) -> str:
    """Return why no score was found, by the first stage of the search that left no byte."""
    for stage, (_, none_left) in STAGES.items():
        if not answer["sieve"].get(stage):
            return none_left
    return "Digits were found, but no number that they form rose and could be proved."


def score(answer: Answer) -> Verdict:
    """Return grade, where the score lies, and sentences on how and why."""
    if "seconds" not in answer:
        return UNKNOWN
    if not answer["candidates"]:
        said = ["No number that rose in play was found on the screen."]
        return Verdict("none", "not found", said)
    best = answer["candidates"][0]
    region = best.get("score_region", "SYSTEM_RAM")
    evidence = best["evidence"]
    screen, poke = evidence.get("screen", {}), evidence.get("poke", {})
    parts = count(len(best["score_addrs"]), "byte")
    order = " most significant first," if len(best["score_addrs"]) > 1 else ""
    said = [f"{parts} of {region},{order} {encoding(best)}."]
    if zeros := screen.get("drawn_zeros", 0):
        drawn = f"{count(zeros, 'zero')} {'is' if zeros == 1 else 'are'}"
        said.append(f"{drawn} drawn behind it, whatever RAM holds.")
    if poke.get("rises"):
        all_of = "each time" if poke["added"] == poke["rises"] else f"{poke['added']} times"
        said.append(
            f"Before {count(poke['rises'], 'recorded rise')} another number was written: {all_of} "
            f"the game added its points to it, and {poke['read_back']} times the screen then "
            "showed the sum."
        )
    if screen:
        said.append(f"At {screen['film']} moments the screen shows what RAM holds.")
    if copies := evidence.get("copies"):
        each = ", ".join(copy.split(":")[0] for copy in copies)
        are = "is a copy" if len(copies) == 1 else "are copies"
        said.append(f"{each} {are} that the game makes anew: writing there changes nothing.")
    return Verdict(best["grade"], " ".join(f"0x{addr:x}" for addr in best["score_addrs"]), said)


def lives(answer: Answer) -> Verdict:
    """Return grade, where the lives lie, and sentences on how and why."""
    if "seconds" not in answer:
        return UNKNOWN
    if (known := answer.get("lives")) is None:
        return Verdict("none", "not found", [NO_LIVES])
    bits = "" if known["mask"] == 0xFF else f", bits 0x{known['mask']:02x}"
    said = [f"1 byte of {known['region']}{bits}; {known['start']} at the start."]
    if terms := known.get("terms"):
        parts = " ".join(dict.fromkeys(f"0x{addr:x}" for term in terms for addr in term["addrs"]))
        said.append(f"The game makes it anew from what stands at {parts}: there it was written.")
    if known["grade"] == "unproved":
        why = known["evidence"].get("why", "writing it did not end the game")
        said.append(f"It falls like lives, but {why}. Not in the file.")
    elif "poked" in (evidence := known["evidence"]):
        said.append(
            f"Written {evidence['poked']} before a recorded loss, that loss ended the game: inputs "
            "stopped mattering. Written one higher, play went on as it does untouched."
        )
    return Verdict(known["grade"], f"0x{answer['lives_addr']:x}", said)


def game_over(answer: Answer) -> Verdict:
    """Return grade, the rule of game over, and sentences on it."""
    if "seconds" not in answer:
        return UNKNOWN
    if not (rule := answer["terminated"]):
        return Verdict("none", "no rule", ["Without proved lives there is no rule of game over."])
    known = answer["lives"]
    said = ["Holds once the last life has ended, and not before."]
    if known["cuts_last_life"]:
        said = ["Holds as the last life begins: no byte was found that tells its end."]
    flag = known["evidence"].get("game_over")
    return Verdict(flag["grade"] if flag else known["grade"], rule, said)
