import { describe, expect, it } from "vitest";
import { fixedPriceMenusByName } from "./menu-card.ts";
import { generateRestaurant } from "./restaurant.ts";

describe("generateRestaurant", () => {
  it("returns the same restaurant for the same seed, and another restaurant for another seed", () => {
    expect(generateRestaurant(7)).toEqual(generateRestaurant(7));
    expect(generateRestaurant(7).products[0]?.id).not.toBe(generateRestaurant(8).products[0]?.id);
  });

  it("has products at three VAT rates, by piece and by weight, and every choice of its menus", () => {
    const { products, menus } = generateRestaurant("vat");
    expect(new Set(products.map(({ tax }) => tax.rate))).toEqual(new Set([5.5, 10, 20]));
    expect(new Set(products.map(({ soldBy }) => soldBy))).toEqual(new Set(["piece", "kilogram"]));
    expect(new Set(products.map(({ id }) => id)).size).toBe(products.length);
    expect(menus.map(({ steps }) => steps.map(({ choices }) => choices.length))).toEqual(
      Object.values(fixedPriceMenusByName).map(({ steps }) => Object.values(steps).map((choices) => choices.length)),
    );
  });

  it("has company numbers that are never assigned and have valid check digits", () => {
    const { siretCode, tvaCode } = generateRestaurant(1).establishment;
    expect(siretCode).toMatch(/^000\d{11}$/);
    expect(luhnSum(siretCode) % 10).toBe(0);
    expect(luhnSum(siretCode.slice(0, 9)) % 10).toBe(0);
    expect(tvaCode).toMatch(/^FR\d{11}$/);
  });
});

function luhnSum(digits: string): number {
  const reversedDigits = [...digits].reverse().map(Number);
  return reversedDigits.reduce((sum, digit, index) => {
    const doubled = index % 2 === 1 ? digit * 2 : digit;
    return sum + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
}
