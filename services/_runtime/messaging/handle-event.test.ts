import { expect, it } from "vitest";
import { describeErrorChain } from "../observability/describe-error.ts";
import { parseEventEnvelope } from "./handle-event.ts";

it.each(["Jean Dupont, 0612345678", '{"id": "Jean Dupont', '{"specversion": "Jean Dupont", "type": "Jean Dupont"}'])(
  "the error of the invalid event envelope %j quotes nothing of it",
  (body) => {
    let reason = "";
    try {
      parseEventEnvelope(body);
    } catch (error) {
      reason = describeErrorChain(error);
    }
    expect(reason).toContain("not a valid event envelope");
    expect(reason).not.toMatch(/Jean|Dupont|0612/);
  },
);
