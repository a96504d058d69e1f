import { describe, expect, it } from "vitest";
import { prepend, takePage } from "./pages.ts";

/** A page with a head and a body in it, and the body. */
function pageWith(text: string, body: string) {
  const page = takePage();
  page.space.write(text + body, "latin1");
  return { page, part: page.space.subarray(text.length, text.length + body.length) };
}

describe("a text before what was read", () => {
  it("is written over what was dealt with, and before the page when it is longer", () => {
    const { part } = pageWith("head", "body");
    expect(prepend("a longer head: ", part)?.toString("latin1")).toBe("a longer head: body");
    expect(part.toString("latin1")).toBe("body");
  });

  it("is not written where there is no room for it", () => {
    const { part } = pageWith("head", "body");
    expect(prepend("x".repeat(5_000), part)).toBeUndefined();
  });

  it("is not written over what somebody still has to write", () => {
    const { page, part } = pageWith("head", "body");
    page.borrowers = 1;
    expect(prepend("text", part)).toBeUndefined();
    expect(page.space.subarray(0, 8).toString("latin1")).toBe("headbody");
  });

  it("is not written into memory that is no page", () => {
    expect(prepend("text", Buffer.from("a text and a body").subarray(11))).toBeUndefined();
  });
});
