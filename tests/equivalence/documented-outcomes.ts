import { describe, expect, it } from "vitest";
import { type ApiOperation, apiOperations, type OperationOutcome } from "../contract/api-operations.ts";
import { errorRequestBuilders } from "../contract/common-error-requests.ts";
import type { OperationRequest } from "../contract/operation-contract.ts";
import { operationContracts } from "../contract/operation-contracts.ts";
import type { DeploymentMode } from "../harness/both-modes.ts";
import { describeResponseShape } from "../harness/compare-responses.ts";
import { bothModes, buildOutcomeRequest, fixturesByMode, toRawRequest } from "./equivalence-fixture.ts";

/** Returns the documented outcomes of an operation that one request can cause. */
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
  mode: DeploymentMode,
  outcome: OperationOutcome,
): Promise<OperationRequest> {
  const operationRequest = await buildOutcomeRequest(operation, mode, outcome);
  if (operationContracts[operation.id]?.requestsByOutcome[outcome]) return operationRequest;
  return (
    (await errorRequestBuilders[outcome as keyof typeof errorRequestBuilders]?.(
      operationRequest,
      operation,
      fixturesByMode[mode],
    )) ?? operationRequest
  );
}

/** Compares every documented outcome of every operation: reads byte by byte, writes by their shape. */
export function defineDocumentedOutcomeTests(): void {
  describe.each(apiOperations)("$id has equal responses", (operation) => {
    it.each(listTestableOutcomes(operation))("%s", async (outcome) => {
      const status = operation.outcomes.get(outcome)?.status;
      if (operation.method === "GET") {
        const response = await bothModes.expectSameResponse(
          toRawRequest(operation, await buildRequest(operation, "singleProcess", outcome)),
        );
        expect(response.status).toBe(status);
        return;
      }
      const [singleProcess, split] = [
        await buildRequest(operation, "singleProcess", outcome),
        await buildRequest(operation, "split", outcome),
      ];
      const requests = { singleProcess, split };
      const responses = await bothModes.expectEquivalentResponses(
        (mode) => toRawRequest(operation, requests[mode]),
        describeResponseShape,
      );
      expect(responses.singleProcess.status).toBe(status);
    });
  });
}
