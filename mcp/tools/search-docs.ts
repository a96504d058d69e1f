import { z } from "zod";
import { defineTool } from "../define-tool.ts";

export const searchDocsTool = defineTool({
  name: "search_docs",
  title: "Search documentation",
  description: "Passages of the API documentation: meaning of figures, guides, operations, error codes. English words.",
  arguments: {
    query: z.string().trim().min(2).max(200),
    limit: z.int().min(1).max(5).default(3),
  },
  example: { query: "difference between declared and recorded payments" },
  output: { passages: z.array(z.object({ title: z.string(), url: z.string(), text: z.string() })), found: z.int() },
  async answer({ query, limit }, { searchDocumentation }) {
    const { passages, foundCount } = await searchDocumentation(query, limit);
    return {
      passages: passages.map(({ title, url, text }) => ({ title, url, text })),
      found: foundCount,
      ...(foundCount === 0 && { notes: ["The documentation contains none of these words. Use other English words."] }),
    };
  },
});
