import { array, object, z } from "zod";
import { type ApiErrorCode, apiErrorDefinitions, apiErrorsDocumentationPageUrl } from "./errors.ts";
import { field } from "./fields.ts";

const requestIssueSchema = object({
  in: z.enum(["body", "query", "path", "header"]).describe("Part of the request that contains the issue"),
  path: field.text(
    "Path of the invalid value within the part of the request that `in` specifies, such as `orderList[3].guestsCount`; empty if the issue affects the whole part",
  ),
  code: field.text("Type of the issue, such as `required` or `too_big`. Use it to handle issues in your program."),
  message: field.text("Human-readable explanation of the issue and how to fix it"),
}).meta({
  id: "Issue",
  description:
    "An issue in a request: the part and the path of the invalid value, the type of the issue, and an explanation",
  example: { in: "query", path: "size", code: "too_big", message: "Must be at most 100" },
});

export const problemSchema = object({
  type: field.url("URL of the documentation for the error code"),
  title: field.text("Short summary of the error, the same for every error with this code"),
  status: field.integer("HTTP status code of the response"),
  detail: field.text("Human-readable explanation of this occurrence of the error"),
  code: z.enum(Object.keys(apiErrorDefinitions) as [ApiErrorCode, ...ApiErrorCode[]]).meta({
    description: "Code of the error. Codes never change, so you can use them to handle errors in your program.",
  }),
  requestId: field.text("ID of the request that failed. Include it when you contact support."),
  limit: object({
    name: field.text("Name of the limit, such as `webhooks`. The documentation lists all limits."),
    maximum: z.number().describe("Maximum that the limit allows, in the unit that `unit` specifies"),
    unit: field.text("Unit of `maximum`, such as `bytes per day`"),
  })
    .optional()
    .describe("Limit that the request would exceed"),
  errors: array(requestIssueSchema)
    .optional()
    .describe("Issues found in the request, at most 100; absent unless the request is invalid"),
}).meta({
  id: "Problem",
  description: "An error, as RFC 9457 problem details",
  example: {
    type: `${apiErrorsDocumentationPageUrl}#invalid_request`,
    title: apiErrorDefinitions.invalid_request.title,
    status: 400,
    detail: "The request has 1 issue. See `errors`.",
    code: "invalid_request",
    requestId: "0190a5f2-7c1e-7cc0-8e2b-5f3f5a3f9c11",
    errors: [{ in: "query", path: "size", code: "too_big", message: "Must be at most 100" }],
  },
});

export type Problem = z.infer<typeof problemSchema>;
