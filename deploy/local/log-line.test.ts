import { expect, it } from "vitest";
import { formatLogLine } from "./log-line.ts";

const time = "2026-11-30T12:20:30.878Z";

it("shows the message of an entry and the request that it is about", () => {
  const request = { level: "info", time, name: "pragma", service: "gateway", requestId: "da4f", traceId: "f018" };
  expect(
    formatLogLine(JSON.stringify({ ...request, method: "GET", path: "/v2/reports", status: 304, msg: "request" })),
  ).toBe(`${time} info gateway: request GET /v2/reports 304`);
  expect(formatLogLine(JSON.stringify({ level: "info", time, name: "pragma", msg: "stopped" }))).toBe(
    `${time} info: stopped`,
  );
});

it("shows the other fields and the stack of an error", () => {
  const err = { type: "Error", message: "refused", stack: "Error: refused\n    at connect" };
  const entry = { level: "error", time, service: "jobs", dependency: "redis", err, msg: "cannot connect" };
  expect(formatLogLine(JSON.stringify(entry))).toBe(
    `${time} error jobs: cannot connect {"dependency":"redis"}\nError: refused\n    at connect`,
  );
});

it.each(["worn out", "{", '{"msg":1}', "null", "{}"])("leaves %s as it is", (line) => {
  expect(formatLogLine(line)).toBe(line);
});
