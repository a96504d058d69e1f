import { ApiError, type RequestIssue } from "@pragma/contracts/errors";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { throwIfInvalid, toRequestIssues } from "./request-issues.ts";

function issuesIn(schema: z.ZodType, input: unknown): RequestIssue[] {
  const { error } = schema.safeParse(input);
  return error ? toRequestIssues("body", error, input) : [];
}

function errorThrownFor(issues: RequestIssue[], count?: number): ApiError {
  try {
    throwIfInvalid(issues, count);
  } catch (error) {
    if (error instanceof ApiError) return error;
  }
  throw new Error("It was not refused.");
}

describe("faultsOf", () => {
  const schema = z.object({ kind: z.enum(["room", "bar"]), guests: z.array(z.object({ age: z.int().min(0) })) });

  it("says where each fault is, what was sent, and what is allowed", () => {
    expect(issuesIn(schema, { kind: "attic", guests: [{ age: 3 }, { age: -1 }] })).toMatchObject([
      { in: "body", path: "kind", code: "invalid_value", message: expect.stringMatching(/"room"\|"bar".*got "attic"/) },
      { in: "body", path: "guests[1].age", code: "too_small", message: expect.stringContaining("got -1") },
    ]);
  });

  it("says of what is not there that it is required", () => {
    expect(issuesIn(schema, { guests: [] })).toMatchObject([{ path: "kind", code: "required" }]);
  });

  it("takes the name that a check gives to its kind of fault", () => {
    const named = z.string().superRefine((_, context) => {
      context.addIssue({ code: "custom", params: { code: "duplicate" }, message: "Again" });
    });
    expect(issuesIn(named, "x")).toMatchObject([{ code: "duplicate" }]);
  });

  it("does not repeat what may be a secret", () => {
    expect(issuesIn(z.object({ apiKey: z.int() }), { apiKey: "pk_live_1" })[0]?.message).not.toContain("pk_live_1");
  });
});

describe("refuseFaults", () => {
  const faults: RequestIssue[] = Array.from({ length: 100 }, (_, index) => ({
    in: "body",
    path: `list[${index}]`,
    code: "required",
    message: "is required",
  }));

  it("lets a request without faults through", () => {
    expect(() => throwIfInvalid([])).not.toThrow();
  });

  it("lists a hundred and says how many there are", () => {
    const refusal = errorThrownFor(faults, 150);
    expect(refusal.issues).toHaveLength(100);
    expect(refusal.message).toBe("The request has 150 faults, of which the first 100 are listed: see errors.");
  });

  it("says that there are more than are counted", () => {
    expect(errorThrownFor(faults, 12_345).message).toContain("more than 10000 faults");
  });
});
