import { expect, test } from "vitest";
import { locationDetailsExample } from "./examples/location.ts";
import { LocationDetails } from "./location.ts";

test("the documented example of a location is valid", () => {
  expect(LocationDetails.parse(locationDetailsExample)).toEqual(locationDetailsExample);
});
