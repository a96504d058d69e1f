import { useDoc } from "@docusaurus/plugin-content-docs/client";
import type { WrapperProps } from "@docusaurus/types";
import type FooterType from "@theme/DocItem/Footer";
import Footer from "@theme-original/DocItem/Footer";
import type { ReactNode } from "react";

/** The footer of a page, with a link to its Markdown copy for AI tools. */
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
