import type { Principal } from "@pragma/contracts/principal";
import type { Problem } from "@pragma/contracts/problem";
import { type ApiScope, hasScope } from "@pragma/contracts/scopes";
import { z } from "zod";
import type { DocumentationSearch } from "./documentation-search.ts";
import { cleanText } from "./format-text.ts";

/** Limits of what an error about arguments quotes. */
const maxShownIssues = 10;
const maxShownUnknownKeys = 5;
const maxShownKeyLength = 40;

export type ToolQuery = Record<string, string | number | undefined>;

/** A request to the API with the key of the client that called the tool. */
export interface ToolApi {
  /**
   * Returns the body of a successful response. If it is large, no other call of the location can read large responses until
   * the tool call ends.
   *
   * @throws `ApiProblem` if the API responds with problem details, and `ApiError` if there is no response.
   */
  get<Body>(path: string, query?: ToolQuery): Promise<Body>;
  /** Returns what `reduce` takes from the body, of which it must keep little, so that the call can read many responses. */
  getReduced<Body, Result>(path: string, query: ToolQuery, reduce: (body: Body) => Result): Promise<Result>;
}

/** What a tool needs from the request in which it is called. */
export interface ToolContext {
  principal: Principal;
  api: ToolApi;
  searchDocumentation: DocumentationSearch;
  now: Date;
}

/** An error response of the API. */
export class ApiProblem extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail);
    this.problem = problem;
  }
}

/** An error that the caller of a tool can correct. Its message states how. */
export class ToolInputError extends Error {}

/** A tool as `tools/list` returns it, and the function that runs it. */
export interface Tool {
  name: string;
  title: string;
  description: string;
  /** The scopes without which the tool cannot answer. */
  scopes: ApiScope[];
  inputSchema: { type: "object" } & Record<string, unknown>;
  /**
   * Returns the answer as text.
   *
   * @throws `ToolInputError` if the arguments are invalid or the API key lacks a scope.
   */
  call(input: unknown, context: ToolContext): Promise<string>;
}

interface ToolDefinition<Shape extends z.core.$ZodLooseShape> {
  name: string;
  title: string;
  description: string;
  /** The scopes without which the tool cannot answer. */
  scopes: ApiScope[];
  arguments: Shape;
  /** Arguments of a correct call, which errors show. */
  example: object;
  /** Returns what is wrong with a combination of arguments. */
  findIssue?(args: z.output<z.ZodObject<Shape, z.core.$strict>>): string | undefined;
  answer(args: z.output<z.ZodObject<Shape, z.core.$strict>>, context: ToolContext): Promise<string>;
}

/** Defines a tool, whose arguments are validated before it runs. */
export function defineTool<Shape extends z.core.$ZodLooseShape>(definition: ToolDefinition<Shape>): Tool {
  const { name, title, description, scopes, example, findIssue, answer } = definition;
  const schema = z.strictObject(definition.arguments);
  return {
    name,
    title,
    description,
    scopes,
    inputSchema: createInputSchema(schema),
    async call(input, context) {
      const parsed = schema.safeParse(input ?? {});
      const combination = parsed.success ? findIssue?.(parsed.data) : undefined;
      const issues = parsed.success ? [] : parsed.error.issues.map((issue) => describeIssue(issue, schema));
      if (combination !== undefined) issues.push(combination);
      if (!parsed.success || issues.length > 0) {
        const lines = issues.slice(0, maxShownIssues).map((issue) => `- ${issue}`);
        if (issues.length > maxShownIssues) lines.push(`- and ${issues.length - maxShownIssues} more`);
        throw new ToolInputError(
          [`The arguments of ${name} are invalid:`, ...lines, `Example: ${name} ${JSON.stringify(example)}`].join("\n"),
        );
      }
      const missing = scopes.filter((scope) => !hasScope(context.principal.scopes, scope));
      if (missing.length > 0) {
        throw new ToolInputError(
          `The API key lacks the scope ${missing.join(" and ")}, which ${name} requires. Scopes of the key: ${context.principal.scopes.join(", ") || "none"}. Ask whoever issued the key to add it.`,
        );
      }
      return answer(parsed.data, context);
    },
  };
}

/** Returns the JSON schema of arguments, without what clients do not need, because an assistant reads all of it. */
function createInputSchema(schema: z.ZodObject): Tool["inputSchema"] {
  const { $schema: _, ...jsonSchema } = z.toJSONSchema(schema, {
    io: "input",
    override({ jsonSchema: part }) {
      if (part.format !== undefined) delete part.pattern;
      if (part.minimum === Number.MIN_SAFE_INTEGER) delete part.minimum;
      if (part.maximum === Number.MAX_SAFE_INTEGER) delete part.maximum;
      delete part.propertyNames;
      // Some clients accept only one type. The tool still accepts a number.
      if (part.anyOf?.some(({ type }) => type === "string")) {
        delete part.anyOf;
        part.type = "string";
      }
    },
  });
  return jsonSchema as Tool["inputSchema"];
}

/** Returns an issue as text: the argument and what it must be. */
function describeIssue(issue: z.core.$ZodIssue, schema: z.ZodObject): string {
  const path = issue.path.join(".");
  if (issue.code === "unrecognized_keys") {
    const names = Object.keys(schema.shape).join(", ");
    return issue.keys
      .slice(0, maxShownUnknownKeys)
      .map((key) => `${cleanText(key, "(empty)", maxShownKeyLength)}: is not an argument. Use some of: ${names}`)
      .join("\n- ");
  }
  return path === "" ? issue.message : `${path}: ${issue.message}`;
}
