import { ApiError, type Fault } from "@pragma/contracts/errors";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { faultsOf, refuseFaults } from "./faults.ts";

function faultsIn(schema: z.ZodType, input: unknown): Fault[] {
  const { error } = schema.safeParse(input);
  return error ? faultsOf("body", error, input) : [];
}

function refusalOf(faults: Fault[], count?: number): ApiError {
  try {
    refuseFaults(faults, count);
  } catch (error) {
    if (error instanceof ApiError) return error;
  }
  throw new Error("It was not refused.");
}

describe("faultsOf", () => {
  const schema = z.object({ kind: z.enum(["room", "bar"]), guests: z.array(z.object({ age: z.int().min(0) })) });

  it("says where each fault is, what was sent, and what is allowed", () => {
    expect(faultsIn(schema, { kind: "attic", guests: [{ age: 3 }, { age: -1 }] })).toMatchObject([
      { in: "body", path: "kind", code: "invalid_value", message: expect.stringMatching(/"room"\|"bar".*got "attic"/) },
      { in: "body", path: "guests[1].age", code: "too_small", message: expect.stringContaining("got -1") },
    ]);
  });

  it("says of what is not there that it is required", () => {
    expect(faultsIn(schema, { guests: [] })).toMatchObject([{ path: "kind", code: "required" }]);
  });

  it("takes the name that a check gives to its kind of fault", () => {
    const named = z.string().superRefine((_, context) => {
      context.addIssue({ code: "custom", params: { code: "duplicate" }, message: "Again" });
    });
    expect(faultsIn(named, "x")).toMatchObject([{ code: "duplicate" }]);
  });

  it("does not repeat what may be a secret", () => {
    expect(faultsIn(z.object({ apiKey: z.int() }), { apiKey: "pk_live_1" })[0]?.message).not.toContain("pk_live_1");
  });
});

describe("refuseFaults", () => {
  const faults: Fault[] = Array.from({ length: 100 }, (_, index) => ({
    in: "body",
    path: `list[${index}]`,
    code: "required",
    message: "is required",
  }));

  it("lets a request without faults through", () => {
    expect(() => refuseFaults([])).not.toThrow();
  });

  it("lists a hundred and says how many there are", () => {
    const refusal = refusalOf(faults, 150);
    expect(refusal.faults).toHaveLength(100);
    expect(refusal.message).toBe("The request has 150 faults, of which the first 100 are listed: see errors.");
  });

  it("says that there are more than are counted", () => {
    expect(refusalOf(faults, 12_345).message).toContain("more than 10000 faults");
  });
});
