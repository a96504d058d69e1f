import { type ReactNode, useEffect } from "react";
import { text } from "../text/text.ts";

interface PageProps {
  title: string;
  /** A line below the title. */
  summary?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

/** A view: its title, which is also that of the browser's tab, and its content. */
export function Page({ title, summary, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · ${text.productName}`;
  }, [title]);
  return (
    <>
      <header className="page-header">
        <div>
          <h1>{title}</h1>
          {summary && <p className="page-summary">{summary}</p>}
        </div>
        {actions && <div className="actions">{actions}</div>}
      </header>
      {children}
    </>
  );
}
