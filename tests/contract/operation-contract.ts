import type { DocumentedApiOperation, DocumentedOutcome } from "./api-operations.ts";
import type { ContractTestFixture } from "./contract-fixture.ts";

/** A request to an operation, without the method and the path template. */
export interface ContractTestRequest {
  path?: Record<string, string>;
  query?: Record<string, string>;
  /** The body. It is serialized as JSON unless it is text or bytes. */
  body?: unknown;
  headers?: Record<string, string>;
  /** The API key; null to send no key. Default: the key of the fixture's location. */
  key?: string | null;
}

/** A function that returns a request with a certain outcome, after creating the data that the outcome requires. */
export type ContractTestRequestBuilder = (
  fixture: ContractTestFixture,
) => ContractTestRequest | Promise<ContractTestRequest>;

/** The test cases of an operation: its requests and their outcomes. */
export interface OperationContractTestCases {
  /**
   * Builders of a request for each outcome. Common errors need no builder, because their requests are built from the
   * success request, which is the request for the successful outcome with the lowest status.
   */
  requestsByOutcome: Partial<Record<DocumentedOutcome, ContractTestRequestBuilder>>;
  /**
   * The response status of the success request if it is sent with the API key of `otherLocation`. This key has the same
   * scopes as the key of `testLocation`.
   */
  statusForOtherLocation?: number;
  /** The documented outcomes that the contract tests cannot cause, each with the reason. */
  untestableOutcomes?: Partial<Record<DocumentedOutcome, string>>;
}

/** The contract test cases of the operations of a tag, by operation id. */
export type TagContractTestCases = Record<string, OperationContractTestCases>;

/** Returns the builder of an operation's success request. @throws Error if the contract has none. */
export function getSuccessRequestBuilder(
  { id }: DocumentedApiOperation,
  contract: OperationContractTestCases | undefined,
): ContractTestRequestBuilder {
  const [first] = Object.keys(contract?.requestsByOutcome ?? {}).filter((outcome) => outcome.startsWith("2"));
  const buildRequest = first && contract?.requestsByOutcome[first as DocumentedOutcome];
  if (!buildRequest) throw new Error(`${id} has no contract: add it to the file of its tag.`);
  return buildRequest;
}
