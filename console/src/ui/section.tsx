import { type ReactNode, useId } from "react";

interface SectionProps {
  title: string;
  /** Links and buttons beside the title. */
  actions?: ReactNode;
  className?: string;
  children: ReactNode;
}

export function Section({ title, actions, className = "", children }: SectionProps) {
  const id = useId();
  return (
    <section className={`section ${className}`} aria-labelledby={id}>
      <div className="section-header">
        <h2 id={id}>{title}</h2>
        {actions && <div className="actions">{actions}</div>}
      </div>
      {children}
    </section>
  );
}
