import { ApiError, type RequestIssue } from "@pragma/contracts/errors";
import { addIssue } from "@pragma/contracts/fields";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { IssueCollector, throwIfInvalid } from "./request-issues.ts";

function issuesIn(schema: z.ZodType, input: unknown): RequestIssue[] {
  const collector = new IssueCollector();
  collector.addZodError(schema.safeParse(input).error, input);
  return collector.issues;
}

function errorThrownFor(issues: RequestIssue[], count?: number): ApiError {
  try {
    throwIfInvalid(issues, count);
  } catch (error) {
    if (error instanceof ApiError) return error;
  }
  throw new Error("The request was accepted.");
}

describe("an issue of a schema", () => {
  const schema = z.object({ kind: z.enum(["room", "bar"]), guests: z.array(z.object({ age: z.int().min(0) })) });

  it("reports the path, the received value and the allowed values of each issue", () => {
    expect(issuesIn(schema, { kind: "attic", guests: [{ age: 3 }, { age: -1 }] })).toMatchObject([
      { in: "body", path: "kind", code: "invalid_value", message: 'Must be one of "room", "bar"; got "attic"' },
      { in: "body", path: "guests[1].age", code: "too_small", message: "Must be at least 0; got -1" },
    ]);
  });

  it("names limits of 1 in the singular, and other limits in the plural", () => {
    const lists = z.object({
      events: z.array(z.string()).min(1).max(2),
      name: z.string().min(1),
      code: z.string().max(1),
    });
    const messages = [
      ...issuesIn(lists, { events: [], name: "", code: "ab" }),
      ...issuesIn(lists, { events: ["a", "b", "c"], name: "n", code: "" }),
    ].map(({ message }) => message.replace(/; got .*/, ""));
    expect(messages).toEqual([
      "Must have at least 1 item",
      "Must have at least 1 character",
      "Must have at most 1 character",
      "Must have at most 2 items",
    ]);
  });

  it("reports a number outside of a limit once, with this limit", () => {
    const numbers = z.object({ size: z.int().min(1).max(100), index: z.int().min(0) });
    const listed = ({ size, index }: { size: number; index: number }) =>
      issuesIn(numbers, { size, index }).map(({ path, message }) => `${path}: ${message}`);
    expect(listed({ size: 101, index: 0 })).toEqual(["size: Must be at most 100; got 101"]);
    expect(listed({ size: 1e16, index: 1e16 })).toEqual([
      "size: Must be at most 100",
      "index: Must be at most 9007199254740991",
    ]);
    expect(listed({ size: -1e300, index: -1e17 })).toEqual(["size: Must be at least 1", "index: Must be at least 0"]);
    const collector = new IssueCollector();
    collector.addZodError(numbers.safeParse({ size: 1e16, index: 0 }).error, { size: 1e16, index: 0 });
    expect(collector.count).toBe(1);
  });

  it("reports missing values as required", () => {
    expect(issuesIn(schema, { guests: [] })).toMatchObject([{ path: "kind", code: "required" }]);
  });

  it("uses the code of a custom check", () => {
    const named = z.string().superRefine((_, context) => {
      context.addIssue({ code: "custom", params: { code: "duplicate" }, message: "Again" });
    });
    expect(issuesIn(named, "x")).toMatchObject([{ code: "duplicate" }]);
  });

  it("reports only the part of the value that a custom check received, after its message", () => {
    const list = z.string().superRefine((_, context) => {
      addIssue(context, "invalid_value", "Must be some of: a, b", { received: '"c"' });
      addIssue(context, "too_big", "Must have at most 2 items", { received: 3 });
    });
    expect(issuesIn(list, "a,b,c").map(({ message }) => message)).toEqual([
      'Must be some of: a, b; got "c"',
      "Must have at most 2 items; got 3",
    ]);
  });

  it("does not repeat values that may be secrets", () => {
    expect(issuesIn(z.object({ apiKey: z.int() }), { apiKey: "pk_live_1" })[0]?.message).not.toContain("pk_live_1");
  });
});

describe("throwIfInvalid", () => {
  const issues: RequestIssue[] = Array.from({ length: 100 }, (_, index) => ({
    in: "body",
    path: `list[${index}]`,
    code: "required",
    message: "Is required",
  }));

  it("accepts a request without issues", () => {
    expect(() => throwIfInvalid([])).not.toThrow();
  });

  it("lists the first hundred issues and reports their number", () => {
    const error = errorThrownFor(issues, 150);
    expect(error.issues).toHaveLength(100);
    expect(error.message).toBe("The request has 150 issues. `errors` lists the first 100.");
  });

  it("reports that there are more issues than are counted", () => {
    expect(errorThrownFor(issues, 12_345).message).toContain("more than 10000 issues");
  });
});
