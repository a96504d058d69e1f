import type { AdminApiClient } from "@pragma/client/api-client";
import { z } from "zod";
import type { DocumentationSearch } from "./documentation-search.ts";
import { cleanText } from "./format-text.ts";
import { renderText } from "./render-text.ts";

/** Limits of what an error about arguments quotes. */
const maxShownIssues = 10;
const maxShownUnknownKeys = 5;
const maxShownKeyLength = 40;

export interface ToolContext {
  /** A client of the API with the key of the caller. What it reads counts as in memory until the call ends. */
  api: AdminApiClient;
  /** Returns what `read` keeps of large responses. They count as in memory only until it ends. */
  readAndReduce<Result>(read: (api: AdminApiClient) => Promise<Result>): Promise<Result>;
  /** The location of the API key; null for an operator's key. */
  ownLocation: { id: string; timeZone: string } | null;
  /** Whether the key may read the e-reports of its location's business. */
  canReadEReports: boolean;
  searchDocumentation: DocumentationSearch;
  now: Date;
}

/** An error that the caller of a tool can correct. Its message states how. */
export class ToolInputError extends Error {}

/** What an answer states about itself. Undefined notes are left out. */
type Notes = { notes?: (string | undefined)[] };

export interface Tool {
  listed: { name: string; title: string; description: string; inputSchema: JsonSchema; outputSchema: JsonSchema };
  /** Returns structured content, also as text in which long tables are cut. @throws `ToolInputError` */
  call(input: unknown, context: ToolContext): Promise<{ text: string; structuredContent: Record<string, unknown> }>;
}

type JsonSchema = { type: "object" } & Record<string, unknown>;
type Arguments<Shape extends z.core.$ZodLooseShape> = z.output<z.ZodObject<Shape, z.core.$strict>>;

interface ToolDefinition<Shape extends z.core.$ZodLooseShape, Output extends z.core.$ZodLooseShape> {
  name: string;
  title: string;
  description: string;
  arguments: Shape;
  example: object;
  output: Output;
  findIssue?(args: Arguments<Shape>): string | undefined;
  answer(args: Arguments<Shape>, context: ToolContext): Promise<z.output<z.ZodObject<Output>> & Notes>;
}

export function defineTool<Shape extends z.core.$ZodLooseShape, Output extends z.core.$ZodLooseShape>(
  definition: ToolDefinition<Shape, Output>,
): Tool {
  const { name, title, description, example, findIssue, answer } = definition;
  const schema = z.strictObject(definition.arguments);
  return {
    listed: {
      name,
      title,
      description,
      inputSchema: createJsonSchema(schema, "input"),
      outputSchema: createJsonSchema(z.object({ ...definition.output, notes: z.array(z.string()) }), "output"),
    },
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
      const { notes = [], ...fields } = await answer(parsed.data, context);
      const structuredContent = { ...fields, notes: notes.filter((note) => note !== undefined) };
      return { text: renderText(structuredContent), structuredContent };
    },
  };
}

/** Returns a JSON schema without what clients do not need, because an assistant reads all of it. */
function createJsonSchema(schema: z.ZodObject, io: "input" | "output"): JsonSchema {
  const { $schema: _, ...jsonSchema } = z.toJSONSchema(schema, {
    io,
    override({ jsonSchema: part }) {
      if (part.format !== undefined) delete part.pattern;
      if (part.minimum === Number.MIN_SAFE_INTEGER) delete part.minimum;
      if (part.maximum === Number.MAX_SAFE_INTEGER) delete part.maximum;
      delete part.propertyNames;
      if (io === "output") {
        delete part.additionalProperties;
        return;
      }
      // Some clients accept only one type. The tool still accepts a number.
      if (part.anyOf?.some(({ type }) => type === "string")) {
        delete part.anyOf;
        part.type = "string";
      }
    },
  });
  return jsonSchema as JsonSchema;
}

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
