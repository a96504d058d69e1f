import { createHash } from "node:crypto";
import { uniformFloat64 } from "pure-rand/distribution/uniformFloat64";
import { uniformInt } from "pure-rand/distribution/uniformInt";
import { xoroshiro128plusFromState } from "pure-rand/generator/xoroshiro128plus";

/**
 * A stream of random choices that is the same for the same seed, on every machine.
 *
 * The seed is a text of any length: its hash fills the generator's whole 128-bit state, so that the uuids of two
 * different seeds do not meet.
 */
export class Random {
  readonly #seed: string;
  readonly #generator: ReturnType<typeof xoroshiro128plusFromState>;

  constructor(seed: string) {
    this.#seed = seed;
    const hash = createHash("sha256").update(seed).digest();
    this.#generator = xoroshiro128plusFromState([0, 4, 8, 12].map((offset) => hash.readInt32BE(offset)));
  }

  /** An independent stream, the same for the same label however much was drawn from this one. */
  fork(label: string | number): Random {
    return new Random(`${this.#seed}/${label}`);
  }

  /** An integer between both bounds, bounds included. */
  integer(min: number, max: number): number {
    return uniformInt(this.#generator, min, max);
  }

  /** True with the given probability (0 to 1). */
  chance(probability: number): boolean {
    return uniformFloat64(this.#generator) < probability;
  }

  /** A number around `mean`; about two in three lie within one `deviation` of it, none beyond six. */
  around(mean: number, deviation: number): number {
    const sumOfTwelve = Array.from({ length: 12 }, () => uniformFloat64(this.#generator)).reduce((a, b) => a + b, 0);
    return mean + (sumOfTwelve - 6) * deviation;
  }

  /** One of the items, each as likely as the others. Throws a RangeError when there is none. */
  pick<T>(items: readonly T[]): T {
    return itemAt(items, this.integer(0, Math.max(0, items.length - 1)));
  }

  /** One of the values, each as likely as its weight says. Throws a RangeError when there is none. */
  pickWeighted<T>(choices: readonly (readonly [value: T, weight: number])[]): T {
    let left = uniformFloat64(this.#generator) * choices.reduce((sum, [, weight]) => sum + weight, 0);
    const chosen = choices.findIndex(([, weight]) => {
      left -= weight;
      return left < 0;
    });
    return itemAt(choices, Math.max(0, chosen))[0];
  }

  /** The same items in another order. */
  shuffle<T>(items: readonly T[]): T[] {
    return items
      .map((item) => ({ item, rank: uniformFloat64(this.#generator) }))
      .sort((a, b) => a.rank - b.rank)
      .map(({ item }) => item);
  }

  /** `count` different items, or all of them when there are fewer. */
  sample<T>(items: readonly T[], count: number): T[] {
    return this.shuffle(items).slice(0, count);
  }

  /** The expected number as a whole number: 2.3 is 2, and 3 in three cases of ten. */
  quota(expected: number): number {
    const whole = Math.floor(expected);
    return whole + (this.chance(expected - whole) ? 1 : 0);
  }

  /** `length` lower-case hexadecimal digits. */
  hex(length: number): string {
    let digits = "";
    while (digits.length < length) digits += (this.#generator.next() >>> 0).toString(16).padStart(8, "0");
    return digits.slice(0, length);
  }

  /** A version 4 uuid. */
  uuid(): string {
    const digits = this.hex(31);
    const variant = "89ab"[this.integer(0, 3)];
    const node = digits.slice(18, 30);
    return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(12, 15)}-${variant}${digits.slice(15, 18)}-${node}`;
  }
}

function itemAt<T>(items: readonly T[], index: number): T {
  if (index >= items.length) throw new RangeError("Nothing to pick from");
  return items[index] as T;
}
