import { expect, it } from "vitest";
import { z } from "zod";
import { readConfigFromEnvironment } from "./runtime-config.ts";

it("names the variables that are not set, and why others are invalid", () => {
  const schema = z.object({
    DATA_KEYS: z.string(),
    MODE: z.enum(["on", "off"]),
    PORT: z.string().regex(/^\d+$/, "must be a number"),
  });
  const read = () => readConfigFromEnvironment(schema, { DATA_KEYS: "", PORT: "x" });
  expect(read).toThrow(
    "DATA_KEYS: is required, but not set\n  - MODE: is required, but not set\n  - PORT: must be a number",
  );
});
