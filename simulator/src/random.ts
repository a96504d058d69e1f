import { createHash } from "node:crypto";
import { uniformFloat64 } from "pure-rand/distribution/uniformFloat64";
import { uniformInt } from "pure-rand/distribution/uniformInt";
import { xoroshiro128plusFromState } from "pure-rand/generator/xoroshiro128plus";

/** A generator whose values are the same on every machine. All 128 bits of its state come from a hash of the seed. */
export class SeededRandom {
  readonly #seed: string;
  readonly #generator: ReturnType<typeof xoroshiro128plusFromState>;

  constructor(seed: string) {
    this.#seed = seed;
    const hash = createHash("sha256").update(seed).digest();
    this.#generator = xoroshiro128plusFromState([0, 4, 8, 12].map((offset) => hash.readInt32BE(offset)));
  }

  /** Returns an independent generator whose values depend only on the seed and the label. */
  fork(label: string | number): SeededRandom {
    return new SeededRandom(`${this.#seed}/${label}`);
  }

  /** Returns an integer between both bounds, inclusive. */
  integer(min: number, max: number): number {
    return uniformInt(this.#generator, min, max);
  }

  chance(probability: number): boolean {
    return uniformFloat64(this.#generator) < probability;
  }

  /** Returns an approximately normal random number with this mean and standard deviation. */
  around(mean: number, deviation: number): number {
    const sumOfTwelve = Array.from({ length: 12 }, () => uniformFloat64(this.#generator)).reduce((a, b) => a + b, 0);
    return mean + (sumOfTwelve - 6) * deviation;
  }

  /** Returns a random item. @throws RangeError if there are no items. */
  pick<Item>(items: readonly Item[]): Item {
    return itemAt(items, this.integer(0, Math.max(0, items.length - 1)));
  }

  /** Returns a random value, with probabilities in proportion to the weights. @throws RangeError without choices. */
  pickWeighted<Item>(choices: readonly (readonly [value: Item, weight: number])[]): Item {
    let remainingWeight = uniformFloat64(this.#generator) * choices.reduce((sum, [, weight]) => sum + weight, 0);
    const chosenIndex = choices.findIndex(([, weight]) => {
      remainingWeight -= weight;
      return remainingWeight < 0;
    });
    return itemAt(choices, Math.max(0, chosenIndex))[0];
  }

  shuffle<Item>(items: readonly Item[]): Item[] {
    return items
      .map((item) => ({ item, rank: uniformFloat64(this.#generator) }))
      .sort((a, b) => a.rank - b.rank)
      .map(({ item }) => item);
  }

  /** Returns `count` different items, or all of them if there are fewer. */
  sample<Item>(items: readonly Item[], count: number): Item[] {
    return this.shuffle(items).slice(0, count);
  }

  /** Rounds a number up or down at random, without changing the mean: 2.3 becomes 3 with a probability of 0.3. */
  quota(expected: number): number {
    const whole = Math.floor(expected);
    return whole + (this.chance(expected - whole) ? 1 : 0);
  }

  hex(length: number): string {
    let digits = "";
    while (digits.length < length) digits += (this.#generator.next() >>> 0).toString(16).padStart(8, "0");
    return digits.slice(0, length);
  }

  uuid(): string {
    const digits = this.hex(31);
    const variant = "89ab"[this.integer(0, 3)];
    const node = digits.slice(18, 30);
    return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(12, 15)}-${variant}${digits.slice(15, 18)}-${node}`;
  }
}

function itemAt<Item>(items: readonly Item[], index: number): Item {
  if (index >= items.length) throw new RangeError("There are no items to pick from");
  return items[index] as Item;
}
