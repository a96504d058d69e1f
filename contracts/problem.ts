import { z } from "zod";
import { type ApiErrorCode, apiErrorDefinitions, apiErrorsDocumentationPageUrl } from "./errors.ts";

const requestIssueSchema = z
  .object({
    in: z
      .enum(["body", "query", "path", "header"])
      .meta({ description: "Part of the request that contains the issue" }),
    path: z.string().meta({
      description:
        "Path of the invalid value within the part of the request that `in` specifies, such as `orderList[3].guestsCount`; empty if the issue affects the whole part",
    }),
    code: z.string().meta({
      description: "Type of the issue, such as `required` or `too_big`. Use it to handle issues in your program.",
    }),
    message: z.string().meta({ description: "Human-readable explanation of the issue and how to fix it" }),
  })
  .meta({
    id: "Issue",
    description:
      "An issue in a request: the part and the path of the invalid value, the type of the issue, and an explanation",
    example: { in: "query", path: "size", code: "too_big", message: "Must be at most 100" },
  });

/** RFC 9457 problem details, the body of every error response. */
export const problemSchema = z
  .object({
    type: z.url().meta({ description: "URL of the documentation for the error code" }),
    title: z.string().meta({ description: "Short summary of the error, the same for every error with this code" }),
    status: z.int().meta({ description: "HTTP status code of the response" }),
    detail: z.string().meta({ description: "Human-readable explanation of this occurrence of the error" }),
    code: z.enum(Object.keys(apiErrorDefinitions) as [ApiErrorCode, ...ApiErrorCode[]]).meta({
      description: "Code of the error. Codes never change, so you can use them to handle errors in your program.",
    }),
    requestId: z.string().meta({ description: "ID of the request that failed. Include it when you contact support." }),
    limit: z
      .object({
        name: z
          .string()
          .meta({ description: "Name of the limit, such as `webhooks`. The documentation lists all limits." }),
        maximum: z.number().meta({ description: "Maximum that the limit allows, in the unit that `unit` specifies" }),
        unit: z.string().meta({ description: "Unit of `maximum`, such as `bytes per day`" }),
      })
      .optional()
      .meta({ description: "Limit that the request would exceed" }),
    errors: z
      .array(requestIssueSchema)
      .optional()
      .meta({ description: "Issues found in the request, at most 100; absent unless the request is invalid" }),
  })
  .meta({
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
