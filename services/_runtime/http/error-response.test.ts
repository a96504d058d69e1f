import { ApiError } from "@pragma/contracts/errors";
import { expect, it } from "vitest";
import { createLogger } from "../observability/logger.ts";
import { createLoggedErrorResponse } from "./error-response.ts";

it("logs a server error with its cause, but not a request that a limit refused", () => {
  const lines: string[] = [];
  const log = createLogger({
    name: "test",
    level: "info",
    destination: { write: (line: string) => void lines.push(line) },
  });
  const respond = (error: unknown) => {
    const logFields: Record<string, unknown> = {};
    const { status } = createLoggedErrorResponse(error, { requestId: "1", log, docsUrl: "http://d", logFields });
    return [status, logFields.code];
  };
  for (let request = 0; request < 100; request++)
    expect(respond(new ApiError("overloaded"))).toEqual([503, "overloaded"]);
  expect(respond(new ApiError("rate_limited"))).toEqual([429, "rate_limited"]);
  expect(lines).toEqual([]);
  expect(respond(new Error("a bug"))).toEqual([500, "internal_error"]);
  expect(lines.join()).toContain("a bug");
});
