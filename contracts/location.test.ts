import { expect, test } from "vitest";
import { locationDetailsExample } from "./examples/location.ts";
import { LocationDetails } from "./location.ts";

test("the example of a location is one", () => {
  expect(LocationDetails.parse(locationDetailsExample)).toEqual(locationDetailsExample);
});
