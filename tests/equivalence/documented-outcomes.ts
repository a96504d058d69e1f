import { describe, expect, it } from "vitest";
import { type ApiOperation, apiOperations, type OperationOutcome } from "../contract/api-operations.ts";
import { errorRequestBuilders } from "../contract/common-error-requests.ts";
import type { OperationRequest } from "../contract/operation-contract.ts";
import { operationContracts } from "../contract/operation-contracts.ts";
import { type DeploymentMode, describeResponseShape } from "../harness/both-modes.ts";
import { bothModes, buildOutcomeRequest, fixturesByMode, toRawRequest } from "./equivalence-fixture.ts";

/** Those of an operation's documented outcomes that a request alone brings about. */
function listTestableOutcomes({ id, outcomes }: ApiOperation): OperationOutcome[] {
  const { requestsByOutcome = {}, untestableOutcomes = {} } = operationContracts[id] ?? {};
  return [...outcomes.keys()].filter(
    (outcome) =>
      outcome !== "service_unavailable" &&
      (outcome in requestsByOutcome || outcome in errorRequestBuilders) &&
      !(outcome in untestableOutcomes),
  );
}

async function buildRequest(
  operation: ApiOperation,
  way: DeploymentMode,
  outcome: OperationOutcome,
): Promise<OperationRequest> {
  const ask = await buildOutcomeRequest(operation, way, outcome);
  if (operationContracts[operation.id]?.requestsByOutcome[outcome]) return ask;
  return (
    (await errorRequestBuilders[outcome as keyof typeof errorRequestBuilders]?.(ask, operation, fixturesByMode[way])) ??
    ask
  );
}

/** Every documented outcome of every operation: what is read to the byte, what is changed in outline. */
export function describeDocumentedOutcomes(): void {
  describe.each(apiOperations)("$id is answered alike", (operation) => {
    it.each(listTestableOutcomes(operation))("%s", async (outcome) => {
      const status = operation.outcomes.get(outcome)?.status;
      if (operation.method === "GET") {
        const reply = await bothModes.expectSameResponse(
          toRawRequest(operation, await buildRequest(operation, "together", outcome)),
        );
        expect(reply.status).toBe(status);
        return;
      }
      const [together, apart] = [
        await buildRequest(operation, "together", outcome),
        await buildRequest(operation, "apart", outcome),
      ];
      const asks = { together, apart };
      const replies = await bothModes.expectEquivalentResponses(
        (way) => toRawRequest(operation, asks[way]),
        describeResponseShape,
      );
      expect(replies.together.status).toBe(status);
    });
  });
}
