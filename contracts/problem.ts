import { z } from "zod";
import { type ApiError, type ErrorCode, errorCatalogue, errorDocumentation } from "./errors.ts";

const faultSchema = z
  .object({
    in: z.enum(["body", "query", "path", "header"]).meta({ description: "The part of the request that it is in" }),
    path: z.string().meta({ description: "Where in that part; empty for the part as a whole" }),
    code: z.string().meta({ description: "A stable name of the kind of fault" }),
    message: z.string().meta({ description: "What is wrong and how to mend it" }),
  })
  .meta({
    id: "Fault",
    description: "Something that is wrong with a request: where, and how to mend it",
    example: { in: "query", path: "size", code: "too_big", message: "Too big: expected number to be <=100" },
  });

/** RFC 9457 problem details, as every error is answered. */
export const problemSchema = z
  .object({
    type: z.url().meta({ description: "A page that explains the error" }),
    title: z.string().meta({ description: "The same for every problem with this code" }),
    status: z.int().meta({ description: "The status of the reply" }),
    detail: z.string().meta({ description: "What happened this time" }),
    code: z
      .enum(Object.keys(errorCatalogue) as [ErrorCode, ...ErrorCode[]])
      .meta({ description: "A stable name of the problem, to decide by" }),
    requestId: z.string().meta({ description: "Name it when you ask for help" }),
    limit: z
      .object({
        name: z.string().meta({ description: "The name of the limit in the documentation" }),
        maximum: z.number().meta({ description: "How large the limit is" }),
        unit: z.string().meta({ description: "What is counted" }),
      })
      .optional()
      .meta({ description: "The limit that the request would exceed" }),
    errors: z.array(faultSchema).optional().meta({ description: "Every fault of the request, at most 100" }),
  })
  .meta({
    id: "Problem",
    description: "An error, as RFC 9457 problem details.",
    example: {
      type: `${errorDocumentation}#invalid_request`,
      title: errorCatalogue.invalid_request.title,
      status: 400,
      detail: "1 fault: see errors.",
      code: "invalid_request",
      requestId: "0190a5f2-7c1e-7cc0-8e2b-5f3f5a3f9c11",
      errors: [{ in: "query", path: "size", code: "too_big", message: "Too big: expected number to be <=100" }],
    },
  });

export type Problem = z.infer<typeof problemSchema>;

/** The problem details of an error, for the request with this id. */
export function problemOf(error: ApiError, requestId: string): Problem {
  const { status, title } = errorCatalogue[error.code];
  return {
    type: `${errorDocumentation}#${error.code}`,
    title,
    status,
    detail: error.message,
    code: error.code,
    requestId,
    ...(error.limit && { limit: error.limit }),
    ...(error.faults && { errors: error.faults }),
  };
}
