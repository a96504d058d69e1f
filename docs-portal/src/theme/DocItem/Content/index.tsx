import { useDoc } from "@docusaurus/plugin-content-docs/client";
import type { Props } from "@theme/DocItem/Content";
import MDXContent from "@theme/MDXContent";
import TableOfContentsBox from "@theme-original/DocItem/TOC/Mobile";
import type { ReactNode } from "react";
import { PageTitle } from "../../../page-title/PageTitle.tsx";
import styles from "./styles.module.css";

/**
 * Renders a page: its title, the folded table of contents for small screens, and its text. The original renders the
 * table of contents above the title. The pages of the reference contain their titles.
 */
export default function DocItemContent({ children }: Props): ReactNode {
  const { metadata, frontMatter, contentTitle, toc } = useDoc();
  const hasTitle = !frontMatter.hide_title && contentTitle === undefined;
  return (
    <div className="theme-doc-markdown markdown">
      {hasTitle && <PageTitle>{metadata.title}</PageTitle>}
      {!frontMatter.hide_table_of_contents && toc.length > 0 && (
        <div className={styles.contents}>
          <TableOfContentsBox />
        </div>
      )}
      <MDXContent>{children}</MDXContent>
    </div>
  );
}
