"""Makes the data of the samples in the documents, with nothing but Python's standard library.

    python docs/samples/make.py docs/samples

The text and the figures are invented. A test makes sure that the files are what this program writes.
"""

import json
import math
import sys
from pathlib import Path


class Dice:
    """Random numbers of our own, so that every version of Python draws the same ones."""

    def __init__(self, seed):
        self.state = seed

    def below(self, count):
        """A whole number from 0 to count - 1."""
        self.state = (6364136223846793005 * self.state + 1442695040888963407) % 2**64
        return (self.state >> 33) * count >> 31

    def uniform(self, low, high):
        """A number between low and high, in a thousand steps."""
        return low + (high - low) * self.below(1001) / 1000

    def pick(self, items):
        """One of the items."""
        return items[self.below(len(items))]

    def chance(self, percent):
        """Whether something happens that happens so often."""
        return self.below(100) < percent

    def normal(self, mean, spread):
        """Roughly normal: the sum of twelve uniform numbers."""
        return mean + spread * (sum(self.uniform(0, 1) for _ in range(12)) - 6)


# Ingredients of recipes: a word and a label per line, as for entities in text.

UNITS = "cup cups tablespoon tablespoons tbsp teaspoon teaspoons tsp gram grams g ounce ounces oz pound pounds lb ml"
PIECES = "clove cloves stick sticks can cans slice slices sprig sprigs bunch handful pinch dash"
FOODS = """flour;sugar;brown sugar;butter;milk;whole milk;olive oil;soy sauce;tomato paste;chicken stock;rice
white rice;black pepper;sea salt;salt;honey;yoghurt;cream cheese;cheddar;parmesan;lemon juice;lime juice;vanilla extract
baking powder;baking soda;cocoa powder;oats;breadcrumbs;ground beef;ground cumin;ground cloves;cinnamon;paprika
coconut milk;peanut butter;maple syrup;red wine;white wine vinegar;dijon mustard;worcestershire sauce;cashews"""
RARE_FOODS = """almond flour;oat milk;fish sauce;ground coriander;smoked paprika;rice vinegar;sour cream;corn starch
vegetable stock;sesame oil;icing sugar;golden syrup;black beans;kidney beans"""
THINGS = """eggs;onion;onions;carrots;potatoes;red onion;bell pepper;sweet potatoes;chicken thighs;salmon fillets;lemons
limes;apples;bananas;dates;tomatoes;cherry tomatoes;courgettes;leeks;spring onions;bay leaves;red chillies"""
RARE_THINGS = "aubergines;pears;shallots;green chillies;duck legs;parsnips;figs;plum tomatoes"
CLOVE_LIKE = {"clove": "garlic", "cloves": "garlic", "stick": "butter", "sticks": "celery", "sprig": "thyme",
              "sprigs": "rosemary", "bunch": "parsley", "handful": "basil", "slice": "bread", "slices": "bacon"}
SIZES = ["large", "small", "medium", "ripe", "fresh"]
DONE = ["chopped", "diced", "minced", "sliced", "peeled", "beaten", "melted", "sifted", "grated", "softened", "drained",
        "crushed", "halved"]
HOW = ["finely", "roughly", "thinly", "freshly", "lightly"]
AMOUNTS = ["1", "2", "3", "4", "1/2", "1/4", "3/4", "250", "100", "1 1/2", "2 1/2", "half a", "a", "two", "6", "500"]


def chunk(words, name):
    """Words with the labels of one chunk."""
    return [(word, ("B-" if at == 0 else "I-") + name) for at, word in enumerate(words.split())]


def note(dice):
    """What is done to an ingredient: "finely chopped"."""
    words = dice.pick(DONE) if dice.chance(60) else f"{dice.pick(HOW)} {dice.pick(DONE)}"
    return words if dice.chance(85) else f"{words} and {dice.pick(DONE)}"


def ingredient(dice, rare):
    """One line of a recipe as words with labels."""
    foods = FOODS.replace("\n", ";").split(";")
    things = THINGS.replace("\n", ";").split(";")
    if rare and dice.chance(rare):
        foods, things = RARE_FOODS.replace("\n", ";").split(";"), RARE_THINGS.split(";")
    kind = dice.below(100)
    tokens = []
    if kind < 8:  # salt to taste
        tokens += chunk(dice.pick(foods), "FOOD")
        return tokens + [(",", "O")] * dice.chance(50) + chunk("to taste", "NOTE")
    amount = dice.pick(AMOUNTS)
    if dice.chance(10) and amount.isdigit():
        amount += " to " + str(int(amount) + 1)
    tokens += chunk(amount, "AMOUNT")
    if kind < 55:
        tokens += chunk(dice.pick(UNITS.split()), "UNIT")
        if dice.chance(30):
            tokens.append(("of", "O"))
        if dice.chance(12):
            tokens += chunk(note(dice), "NOTE")
        tokens += chunk(dice.pick(foods), "FOOD")
    elif kind < 72:
        piece = dice.pick(PIECES.split())
        tokens += chunk(piece, "UNIT")
        if dice.chance(40):
            tokens.append(("of", "O"))
        tokens += chunk(CLOVE_LIKE.get(piece) or dice.pick(foods), "FOOD")
    else:
        if dice.chance(45):
            tokens += chunk(dice.pick(SIZES), "NOTE")
        tokens += chunk(dice.pick(things), "FOOD")
    if dice.chance(40):
        tokens += [(",", "O"), *chunk(note(dice), "NOTE")] if dice.chance(80) else bracketed(dice)
    if dice.chance(25):
        tokens = [(word.capitalize(), label) if at == 0 else (word, label) for at, (word, label) in enumerate(tokens)]
    return tokens


def bracketed(dice):
    """A note in brackets."""
    return [("(", "O"), *chunk(dice.pick(["optional", note(dice), "at room temperature"]), "NOTE"), (")", "O")]


def recipes(folder):
    """Ingredients to train with, to test with (some of them new), and to predict."""
    dice = Dice(11)
    for name, count, rare in [("train", 250, 0), ("dev", 60, 25), ("test", 100, 25)]:
        lines = []
        for _ in range(count):
            lines += [f"{word} {label}\n" for word, label in ingredient(dice, rare)] + ["\n"]
        (folder / f"recipes-{name}.txt").write_text("".join(lines), encoding="utf-8")
    new = ["3 ripe mangoes , peeled and diced", "1 tsp ground cloves", "2 cloves garlic", "Maldon salt to taste"]
    text = "\n\n".join("\n".join(line.split()) for line in new) + "\n"
    (folder / "recipes-new.txt").write_text(text, encoding="utf-8")


# Rows of fruit: grams, centimetres, sweetness, and whether it is red, yellow or green.

FRUIT = {
    "apple": (150, 25, 7.5, 0.6, 5.5, 1.2, (50, 15, 35)),
    "cherry": (8, 2, 2.2, 0.3, 6.5, 1.0, (95, 5, 0)),
    "lemon": (110, 20, 6.0, 0.6, 1.5, 0.8, (0, 90, 10)),
    "lime": (70, 15, 5.0, 0.5, 1.7, 0.8, (0, 10, 90)),
    "pear": (170, 30, 7.0, 0.8, 6.5, 1.2, (10, 45, 45)),
}


def fruit(folder):
    """Rows of LIBSVM with names as labels."""
    dice = Dice(12)
    for name, count in [("train", 120), ("test", 60)]:
        lines = []
        for _ in range(count):
            label = dice.pick(list(FRUIT))
            grams, g, size, s, sweet, t, (red, yellow, _) = FRUIT[label]
            draw = dice.below(100)
            colour = 4 if draw < red else 5 if draw < red + yellow else 6
            values = [(1, abs(dice.normal(grams, g))), (2, dice.normal(size, s)), (3, dice.normal(sweet, t))]
            row = " ".join(f"{at}:{value:.2f}" for at, value in values)
            lines.append(f"{label} {row} {colour}:1\n")
        (folder / f"fruit-{name}.svm").write_text("".join(lines), encoding="utf-8")


# Films with sets of genres, by the words of what they are about.

GENRES = {
    "crime": "heist detective murder police gang",
    "drama": "family loss illness marriage courtroom",
    "romance": "wedding letters marriage summer kiss",
    "comedy": "wedding neighbours mistake holiday disguise",
    "space": "ship planet crew signal orbit",
}
TOGETHER = ["crime", "drama", "romance", "comedy", "space", "crime,drama", "drama,romance", "comedy,romance",
            "crime,comedy", "drama,space", "comedy,drama,romance"]


def films(folder):
    """Rows of LIBSVM with lists of labels, and the words that attributes stand for."""
    words = sorted({word for about in GENRES.values() for word in about.split()})
    dice = Dice(13)
    for name, count in [("train", 150), ("test", 75)]:
        lines = []
        for _ in range(count):
            labels = dice.pick(TOGETHER)
            told = [word for label in labels.split(",") for word in GENRES[label].split() if dice.chance(45)]
            told += [word for word in words if dice.chance(4)]
            row = " ".join(f"{words.index(word) + 1}:1" for word in sorted(set(told)))
            lines.append(f"{labels} {row}".rstrip() + "\n")
        (folder / f"films-{name}.svm").write_text("".join(lines), encoding="utf-8")


# Small grey pictures of discs and bars; every pixel is a superpixel.

def shapes(folder):
    """Figures on a ground, of 8 x 8 pixels with much noise."""
    dice, side = Dice(14), 8
    lines = ["# pictures of 8 x 8 pixels, each of which is a superpixel\n"]
    for at in range(18):
        split = "train" if at < 12 else "test"
        x, y, radius = dice.uniform(2.5, 4.5), dice.uniform(2.5, 4.5), dice.uniform(1.6, 2.8)
        is_disc = dice.chance(50)
        inside = [
            (math.hypot(u - x, v - y) < radius) if is_disc else (abs(u - x) < 1.3)
            for v in range(side) for u in range(side)
        ]
        grey = [min(1, max(0, dice.normal(0.65 if figure else 0.35, 0.16))) for figure in inside]
        pairs = [(v * side + u, v * side + u + 1) for v in range(side) for u in range(side - 1)]
        pairs += [(v * side + u, v * side + u + side) for v in range(side - 1) for u in range(side)]
        lines.append(f"G picture{at + 1} {split} {side} {side} {side * side} {len(pairs)}\n")
        lines += [f"N 1 {int(figure)} {value:.3f}\n" for figure, value in zip(inside, grey)]
        lines += [f"E {a} {b} 1 {abs(grey[a] - grey[b]):.3f}\n" for a, b in pairs]
    (folder / "shapes.txt").write_text("".join(lines), encoding="utf-8")


# English phrases and their Spanish translations, with links between the words.

NOUNS = {"house": "casa", "table": "mesa", "door": "puerta", "street": "calle", "window": "ventana", "school": "escuela"}
ADJECTIVES = {"red": "roja", "small": "pequeña", "old": "vieja", "white": "blanca", "new": "nueva"}
FIRST = {"the": "la", "a": "una", "this": "esta", "my": "mi", "our": "nuestra"}


def phrases(folder):
    """Pairs of phrases, with the part of the data that they belong to."""
    dice = Dice(15)
    lines = []
    for at in range(80):
        part = "train" if at < 60 else "test"
        source, target, links = [], [], []
        for turn in range(1 + dice.chance(60)):
            if turn:
                links.append((len(source) + 1, len(target) + 1, "-"))
                joint = dice.pick([("and", "y"), ("of", "de"), ("with", "con")])
                source.append(joint[0])
                target.append(joint[1])
            first, noun = dice.pick(list(FIRST)), dice.pick(list(NOUNS))
            s, t = len(source), len(target)
            links.append((s + 1, t + 1, "p" if first in ("my", "our") else "-"))
            if dice.chance(65):
                adjective = dice.pick(list(ADJECTIVES))
                source += [first, adjective, noun]
                target += [FIRST[first], NOUNS[noun], ADJECTIVES[adjective]]
                links += [(s + 2, t + 3, "-"), (s + 3, t + 2, "-")]
            else:
                source += [first, noun]
                target += [FIRST[first], NOUNS[noun]]
                links.append((s + 2, t + 2, "-"))
        text = " ".join(f"{a}{kind}{b}" for a, b, kind in links)
        lines.append(f"{part}\t{' '.join(source)}\t{' '.join(target)}\t{text}\n")
    (folder / "phrases.tsv").write_text("".join(lines), encoding="utf-8")


# People as the places of their joints.

PERSON = [(-12, 90), (-11, 60), (-9, 30), (9, 30), (11, 60), (12, 90), (-24, 22), (-20, 0), (-14, -22), (14, -22),
          (20, 0), (24, 22), (0, -26), (0, -48)]


def people(folder):
    """Stick figures that stand, lean and stretch, in the order of joints of Leeds Sports Pose."""
    dice = Dice(16)
    lines = []
    for at in range(40):
        lean, size = dice.uniform(-0.6, 0.6), dice.uniform(0.8, 1.15)
        lift = (dice.uniform(-2.4, 0.4), dice.uniform(-2.4, 0.4))
        fields = []
        for joint, (x, y) in enumerate(PERSON):
            if joint in (6, 7, 10, 11):  # arms turn around their shoulder
                shoulder = PERSON[8] if joint < 8 else PERSON[9]
                angle = lift[joint > 8] * (1 if joint < 8 else -1) * -1
                dx, dy = x - shoulder[0], y - shoulder[1]
                x = shoulder[0] + dx * math.cos(angle) - dy * math.sin(angle)
                y = shoulder[1] + dx * math.sin(angle) + dy * math.cos(angle)
            turned = (x * math.cos(lean) - y * math.sin(lean), x * math.sin(lean) + y * math.cos(lean))
            place = [120 + size * part + dice.normal(0, 1.5) for part in turned]
            fields.append(f"{place[0]:.1f},{place[1]:.1f},0")
        lines.append("\t".join([f"person{at + 1}", *fields]) + "\n")
    (folder / "people.tsv").write_text("".join(lines), encoding="utf-8")


# Rooms of flats in a ring: what each is for, by its size and its windows.

def flats(folder):
    """Factor graphs: four or five rooms around a hall; neighbours are seldom of the same use."""
    dice = Dice(17)
    for name, count in [("train", 60), ("test", 30)]:
        lines = []
        for _ in range(count):
            rooms = 4 + dice.below(2)
            uses = [dice.below(3)]
            while len(uses) < rooms:
                uses.append((uses[-1] + 1 + dice.below(2)) % 3 if dice.chance(85) else uses[-1])
            size, windows = [12, 20, 6], [1.2, 2.0, 0.4]
            factors = [
                {"template": "room", "variables": [room], "attributes": {
                    "size": round(dice.normal(size[use], 4) / 10, 2),
                    "windows": max(0, round(dice.normal(windows[use], 0.6))), "bias": 1}}
                for room, use in enumerate(uses)
            ]
            factors += [{"template": "door", "variables": [room, (room + 1) % rooms], "attributes": {"bias": 1}}
                        for room in range(rooms)]
            graph = {"variables": [{"states": 3, "truth": use} for use in uses], "factors": factors}
            lines.append(json.dumps(graph) + "\n")
        (folder / f"flats-{name}.jsonl").write_text("".join(lines), encoding="utf-8")


def make(folder):
    """All files."""
    for part in (recipes, fruit, films, shapes, phrases, people, flats):
        part(Path(folder))


if __name__ == "__main__":
    make(sys.argv[1])
