import { expect, test } from "vitest";
import { readBody } from "./read-body.ts";
import { openAllowance } from "./receiving-budget.ts";

test("leaves a body alone whose encoding it does not know", async () => {
  const request = new Request("http://service.test", {
    method: "POST",
    headers: { "content-encoding": "br" },
    body: "not read",
  });
  await expect(readBody(request, { allowance: openAllowance() })).rejects.toMatchObject({
    code: "unsupported_encoding",
  });
  expect(request.body?.locked).toBe(false);
});
