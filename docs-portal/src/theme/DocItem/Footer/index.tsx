import { useDoc } from "@docusaurus/plugin-content-docs/client";
import type { WrapperProps } from "@docusaurus/types";
import type FooterType from "@theme/DocItem/Footer";
import Footer from "@theme-original/DocItem/Footer";
import type { ReactNode } from "react";

/** Renders the footer of a page, with a link to the Markdown copy of the page. The copy is for AI tools. */
export default function FooterWithMarkdown(props: WrapperProps<typeof FooterType>): ReactNode {
  const { permalink } = useDoc().metadata;
  return (
    <>
      <p className="margin-top--lg">
        <a href={permalink.endsWith("/") ? `${permalink}index.md` : `${permalink}.md`}>View this page as Markdown</a>
      </p>
      <Footer {...props} />
    </>
  );
}
