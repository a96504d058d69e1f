import { describe, expect, it } from "vitest";
import { createLogger, writeLogLines } from "./logger.ts";

function captureLogLine(write: (log: ReturnType<typeof createLogger>) => void): {
  text: string;
  fields: Record<string, never>;
} {
  const lines: string[] = [];
  write(createLogger({ name: "test", level: "info", destination: { write: (line: string) => void lines.push(line) } }));
  const text = lines.join("");
  return { text, fields: JSON.parse(text) };
}

describe("the logger", () => {
  it("writes the fields of a line", () => {
    const { fields } = captureLogLine((log) =>
      log.info({ requestId: "r1", status: 200, nested: { a: [1] } }, "request"),
    );
    expect(fields).toMatchObject({ level: "info", name: "test", requestId: "r1", status: 200, nested: { a: [1] } });
  });

  it.each([
    [{ authorization: "hush" }],
    [{ request: { authorization: "hush" } }],
    [{ request: { headers: { authorization: "hush" } } }],
    [{ recipients: [{ secret: "hush" }] }],
    [{ GATEWAY_TO_ACCOUNTS_KEYS: "hush", DATABASE_URL: "hush", TILL_INGEST_DATABASE_URL: "hush" }],
  ])("hides the secrets in %j", (fields) => {
    const { text } = captureLogLine((log) => log.info(fields, "x"));
    expect(text).not.toContain("hush");
    expect(text).toContain("[redacted]");
  });

  it("hides the secrets of errors and of child loggers", () => {
    const error = Object.assign(new Error("failed"), { options: { password: "hush" } });
    const { text, fields } = captureLogLine((log) => log.child({ apiKey: "hush" }).error({ err: error }, "x"));
    expect(text).not.toContain("hush");
    expect(fields).toMatchObject({ err: { type: "Error", message: "failed", options: { password: "[redacted]" } } });
  });

  it("does not change the fields object", () => {
    const fields = { nested: { token: "secret" } };
    captureLogLine((log) => log.info(fields, "x"));
    expect(fields.nested.token).toBe("secret");
  });
});

describe("a batch of lines", () => {
  it("is the same as lines written one by one", () => {
    const entries = [{ status: 200, path: "/é", nested: { token: "hush" } }, { status: 404, nothing: undefined }, {}];
    const texts: string[] = [];
    const log = createLogger({ name: "test", level: "info", destination: { write: (text) => void texts.push(text) } });
    const child = log.child({ service: "x" });
    writeLogLines(child, entries, "request");
    for (const fields of entries) child.info(fields, "request");
    const [batch = "", ...singleLines] = texts.map((text) => text.replace(/"time":"[^"]+"/g, '"time":""'));
    expect(singleLines).toHaveLength(3);
    expect(batch).toBe(singleLines.join(""));
  });

  it("is not written when the level is disabled", () => {
    const texts: string[] = [];
    const log = createLogger({ name: "test", level: "warn", destination: { write: (text) => void texts.push(text) } });
    writeLogLines(log, [{ status: 200 }], "request");
    expect(texts).toEqual([]);
  });
});
