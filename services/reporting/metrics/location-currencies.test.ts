import { ApiError } from "@pragma/contracts/errors";
import type { ObservabilityContext } from "@pragma/runtime/observability/request-context";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createLocationCurrencies } from "./location-currencies.ts";

const context = {} as ObservabilityContext;
let nowMs = 0;
beforeEach(() => vi.spyOn(performance, "now").mockImplementation(() => nowMs));
afterEach(() => vi.restoreAllMocks());

it("remembers currencies for five minutes, and longer while accounts is unavailable", async () => {
  const getCurrency = vi.fn(async (id: string): Promise<string | null> => (id === "unknown" ? null : "EUR"));
  const find = createLocationCurrencies({ getCurrency });
  expect(await find(["one", "unknown"], context)).toEqual(["EUR", null]);
  expect(await find(["one", "unknown"], context)).toEqual(["EUR", null]);
  expect(getCurrency).toHaveBeenCalledTimes(2);
  nowMs += 5 * 60_000;
  getCurrency.mockResolvedValueOnce("CHF");
  expect(await find(["one"], context)).toEqual(["CHF"]);
  nowMs += 5 * 60_000;
  getCurrency.mockRejectedValueOnce(new ApiError("service_unavailable"));
  expect(await find(["one"], context)).toEqual(["CHF"]);
  getCurrency.mockRejectedValueOnce(new ApiError("location_not_found"));
  await expect(find(["one"], context)).rejects.toMatchObject({ code: "location_not_found" });
  getCurrency.mockRejectedValueOnce(new ApiError("service_unavailable"));
  await expect(find(["new"], context)).rejects.toMatchObject({ code: "service_unavailable" });
});

it("looks up few locations at a time", async () => {
  let active = 0;
  let maxActive = 0;
  const find = createLocationCurrencies({
    async getCurrency() {
      active += 1;
      maxActive = Math.max(maxActive, active);
      await new Promise((resolve) => setImmediate(resolve));
      active -= 1;
      return "EUR";
    },
  });
  expect(
    await find(
      Array.from({ length: 100 }, (_, index) => `${index}`),
      context,
    ),
  ).toHaveLength(100);
  expect(maxActive).toBe(8);
});
