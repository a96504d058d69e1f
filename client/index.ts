/** The main entry of the package: the client, its errors, the verification of webhook messages, and amounts as text. */
export type { ApiClient, ApiClientOptions, ApiSchemaTypes, PublicApiClient } from "./api-client.ts";
export { createApiClient } from "./api-client.ts";
export type { ProblemCode, ProblemIssue, ProblemLimit } from "./api-problem.ts";
export { ApiProblem, NoResponse, NotModifiedError, nullOnProblem, UnexpectedResponseError } from "./api-problem.ts";
export { currencyCodes, formatDecimalAmount, getCurrencyDecimals } from "./generated/currency.ts";
export type { WebhookMessage, WebhookMessageByEvent } from "./verify-webhook.ts";
export { isWebhookMessageOfEvent, verifyWebhook, WebhookVerificationError } from "./verify-webhook.ts";
