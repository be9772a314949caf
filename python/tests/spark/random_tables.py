"""Random tables of two parties, and what is compared of joins of them."""

import random
from collections import Counter
from datetime import date
from decimal import Decimal

from pyspark.sql import DataFrame, SparkSession

MINE = "name string, day date, number bigint, price decimal(9,2), tags array<string>"
THEIRS = "day date, name string, plan string, paid bigint"
KEY, THEIR_KEY = ["name", "day"], ["name", "day"]


def random_tables(spark: SparkSession, seed: int, rows: int = 300) -> tuple[DataFrame, DataFrame]:
    """Tables with nulls, empty texts and repeated keys; half of the rows of the first are of one
    key.
    """
    draw = random.Random(seed)
    days = [None, date(1969, 12, 31), date(2024, 2, 29)]
    mine, theirs = [], []
    for number in range(rows):
        name = draw.choice([None, "", "Straße", *(f"name {place}" for place in range(rows // 3))])
        day = draw.choice(days)
        if draw.random() < 0.5:
            name, day = "name 1", days[1]
        price = draw.choice([None, Decimal(draw.randrange(-10_000, 10_000)) / 100])
        mine.append((name, day, number, price, draw.choice([None, [], ["a", None]])))
        other = draw.choice([None, "", *(f"name {place}" for place in range(rows // 2))])
        theirs.append((draw.choice(days), other, draw.choice([None, f"plan {number}"]), number))
    theirs.append((days[1], "name 1", "gold", 7))
    return (
        spark.createDataFrame(mine, MINE).repartition(3),
        spark.createDataFrame(theirs, THEIRS).repartition(2),
    )


def keyed(frame: DataFrame) -> DataFrame:
    """The rows that have a key."""
    return frame.where("name is not null and name <> '' and day is not null")


def content(frame: DataFrame) -> Counter[str]:
    """Its rows, in no order."""
    return Counter(map(str, frame.collect()))
