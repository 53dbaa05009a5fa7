import { Boxes, Globe, Users } from "lucide-react";
import { useState, type ReactNode } from "react";
import { Link, useNavigate } from "react-router";
import { useCan } from "@/app/session";
import { Button } from "@/ui/button";
import { Field, Input } from "@/ui/field";
import { monitorSentence } from "./sentence";

/** Shown while nothing is watched: how to begin, starting with one address. */
export function FirstSteps() {
  const can = useCan();
  const navigate = useNavigate();
  const [address, setAddress] = useState("");
  const [fault, setFault] = useState<string>();
  const mayWatch = can("healthcheck.healthcheck.manage") && can("catalog.system.manage");
  if (!mayWatch) {
    return <p className="card px-4 py-6 text-center text-ink-2">Nothing is watched yet. As soon as someone adds a system with a health check, its state appears here.</p>;
  }
  return (
    <ol className="grid gap-3">
      <Step icon={<Globe aria-hidden size={18} />} title="Watch an address" text="Enter a URL. The next page shows what will be created before anything is.">
        <form
          noValidate
          className="flex max-w-[560px] flex-wrap items-end gap-2"
          onSubmit={(event) => {
            event.preventDefault();
            const sentence = monitorSentence(address);
            if (!sentence) {
              setFault("Enter a full address, such as https://example.com/health.");
              return;
            }
            void navigate(can("ai.chat.read") ? `/ai/chat?prompt=${encodeURIComponent(sentence.text)}` : `/healthcheck/config/new?url=${encodeURIComponent(sentence.url)}`);
          }}
        >
          <Field label="URL to watch" error={fault} className="min-w-[220px] flex-1">
            {(control) => <Input {...control} type="url" inputMode="url" autoComplete="off" placeholder="https://example.com/health" value={address} onChange={(event) => setAddress(event.target.value)} />}
          </Field>
          <Button type="submit" look="primary" className={fault ? "mb-6" : ""}>
            Watch it
          </Button>
        </form>
      </Step>
      <Step icon={<Boxes aria-hidden size={18} />} title="Describe what you run" text="Systems and groups are the map that health checks refer to.">
        <Link className="link font-medium" to="/catalog?action=create">
          Add a system
        </Link>
      </Step>
      {can("auth.users.read") ? (
        <Step icon={<Users aria-hidden size={18} />} title="Bring in your team" text="Give people accounts and roles, and create keys for scripts.">
          <Link className="link font-medium" to="/settings/users">
            Manage users
          </Link>
        </Step>
      ) : null}
    </ol>
  );
}

function Step({ icon, title, text, children }: { icon: ReactNode; title: string; text: string; children: ReactNode }) {
  return (
    <li className="card flex gap-4 px-4 py-4 md:px-5">
      <span className="mt-0.5 inline-flex size-8 shrink-0 items-center justify-center rounded-[8px] bg-accent-soft text-accent-ink">{icon}</span>
      <div className="min-w-0 flex-1">
        <h2 className="font-semibold">{title}</h2>
        <p className="mb-3 text-ink-2">{text}</p>
        {children}
      </div>
    </li>
  );
}
