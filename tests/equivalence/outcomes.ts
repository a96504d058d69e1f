import { describe, expect, it } from "vitest";
import { spoils } from "../contract/any-operation.ts";
import type { Ask } from "../contract/contract.ts";
import { type Operation, type Outcome, operations } from "../contract/operations.ts";
import { contractTable } from "../contract/table.ts";
import { outline, type Way } from "../harness/both-ways.ts";
import { askFor, both, rawOf, worlds } from "./setting.ts";

/** Those of an operation's documented outcomes that a request alone brings about. */
function outcomesOf({ id, outcomes }: Operation): Outcome[] {
  const { answers = {}, unreachable = {} } = contractTable[id] ?? {};
  return [...outcomes.keys()].filter(
    (outcome) =>
      outcome !== "service_unavailable" && (outcome in answers || outcome in spoils) && !(outcome in unreachable),
  );
}

async function askOf(operation: Operation, way: Way, outcome: Outcome): Promise<Ask> {
  const ask = await askFor(operation, way, outcome);
  if (contractTable[operation.id]?.answers[outcome]) return ask;
  return (await spoils[outcome as keyof typeof spoils]?.(ask, operation, worlds[way])) ?? ask;
}

/** Every documented outcome of every operation: what is read to the byte, what is changed in outline. */
export function describeOutcomes(): void {
  describe.each(operations)("$id is answered alike", (operation) => {
    it.each(outcomesOf(operation))("%s", async (outcome) => {
      const status = operation.outcomes.get(outcome)?.status;
      if (operation.method === "GET") {
        const reply = await both.alike(rawOf(operation, await askOf(operation, "together", outcome)));
        expect(reply.status).toBe(status);
        return;
      }
      const [together, apart] = [await askOf(operation, "together", outcome), await askOf(operation, "apart", outcome)];
      const asks = { together, apart };
      const replies = await both.alikeEach((way) => rawOf(operation, asks[way]), outline);
      expect(replies.together.status).toBe(status);
    });
  });
}
