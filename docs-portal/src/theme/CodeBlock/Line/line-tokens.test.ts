import { describe, expect, it } from "vitest";
import { splitLine, type Token } from "./line-tokens.ts";

/** Returns the tokens between the bars, of which those without letters and digits are operators, as in Prism. */
const parseTokens = (line: string): Token[] =>
  line.split("|").map((content) => ({ types: ["string", ...(/\w/.test(content) ? [] : ["operator"])], content }));
const contents = (line: Token[]) => line.map(({ content }) => content).join("|");

describe("splitLine", () => {
  it("keeps an origin whole that the highlighting splits, and the text around it apart", () => {
    const line = splitLine(parseTokens("url=|$PRAGMA_URL|:-|http|:|/|/|127.0.0.1|:|4000}|/v2"));
    expect(contents(line)).toBe("url=|$PRAGMA_URL|:-|http://127.0.0.1:4000|}|/v2");
  });

  it("splits a line in the same way if another origin is in its place", () => {
    const replaced = splitLine(parseTokens(":-|http|:|/|/|127.0.0.1|:|4000}|/v2")).map((token) => ({
      ...token,
      content: token.content.replace("http://127.0.0.1:4000", "https://api.bistro.example"),
    }));
    expect(splitLine(parseTokens(":-|https|:|/|/|api.bistro.example}|/v2"))).toEqual(replaced);
  });

  it("lets a URL wrap after its slashes and before its parameters", () => {
    expect(contents(splitLine(parseTokens("http://127.0.0.1:4000/v2/tills?size=1")))).toBe(
      "http://127.0.0.1:4000/|v2/|tills|?size=1",
    );
  });
});
