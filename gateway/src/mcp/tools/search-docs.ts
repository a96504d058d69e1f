import { z } from "zod";
import { Answer } from "../answer.ts";
import { defineTool } from "../define-tool.ts";

export const searchDocsTool = defineTool({
  name: "search_docs",
  title: "Search documentation",
  description: "Passages of the API documentation: meaning of figures, guides, operations, error codes. English words.",
  scopes: [],
  arguments: {
    query: z.string().trim().min(2).max(200),
    limit: z.int().min(1).max(5).default(3),
  },
  example: { query: "difference between declared and recorded payments" },
  async answer({ query, limit }, { searchDocumentation }) {
    const { passages, foundCount } = await searchDocumentation(query, limit);
    const answer = new Answer();
    if (passages.length === 0) {
      return answer
        .add("The documentation contains none of these words.")
        .addNext(
          "search_docs",
          { query: "business day" },
          "search for other English words, such as a term or an error code",
        )
        .toString();
    }
    for (const { title, url, text } of passages) answer.add(`## ${title}`, url, text);
    if (foundCount > passages.length) answer.add(`Left out: ${foundCount - passages.length} less relevant passages`);
    return answer.toString();
  },
});
