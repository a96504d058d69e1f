import { useCodeBlockContext } from "@docusaurus/theme-common/internal";
import Content from "@theme-original/CodeBlock/Content";
import { type ReactNode, useRef, useState } from "react";

/** The languages of data, which readers scan. The beginning shows what the data looks like. */
const dataLanguages = new Set(["json", "http", "text"]);
/** A block is cut only if at least this many lines would be hidden. */
const minHiddenLines = 8;

/** Renders code. Of long code, renders only the first lines, and a button that shows the others. */
export default function CodeBlockContent(): ReactNode {
  const { code, language } = useCodeBlockContext().metadata;
  const [isOpen, setIsOpen] = useState(false);
  const toggle = useRef<HTMLButtonElement>(null);
  const lineCount = code.split("\n").length;
  const size = dataLanguages.has(language) ? "data" : "program";
  if (lineCount < (size === "data" ? 20 : 32) + minHiddenLines) return <Content />;

  const change = () => {
    setIsOpen(!isOpen);
    // The next frame has the new height of the page.
    if (isOpen)
      requestAnimationFrame(() => toggle.current?.closest(".theme-code-block")?.scrollIntoView({ block: "nearest" }));
  };
  return (
    <>
      <Content className={isOpen ? undefined : `cut-code cut-code--${size}`} />
      <button ref={toggle} className="cut-code-toggle" type="button" aria-expanded={isOpen} onClick={change}>
        {isOpen ? "Show fewer lines" : `Show all ${lineCount} lines`}
      </button>
    </>
  );
}
