/** GitHub's signed webhooks in, messages to a chat's API out. The sidecar `chat` adds the API's key. */
import {
  accepted,
  ensure,
  error,
  field,
  HttpClientError,
  routes,
  SidecarError,
  secret,
  sidecar,
  signature,
  Type,
  use,
} from "@tenon/sdk";

const IssueEvent = Type("IssueEvent", {
  action: field.string(),
  issue: Type("Issue", { title: field.string(), html_url: field.string({ format: "uri" }) }),
  repository: Type("Repository", { full_name: field.string() }),
});

const github = use(signature({ scheme: "github", secret: () => secret("GITHUB") }));
const unreachable = (thrown: unknown) => thrown instanceof SidecarError || thrown instanceof HttpClientError;

export default routes(
  {
    /** Post each opened issue to the chat. */
    issues: github.post("/github/issues", { body: IssueEvent, status: 202 }, async ({ body }, req) => {
      const delivery = ensure(req.headers.get("x-github-delivery"), 400, "the delivery has no id");
      if (body.action !== "opened") return accepted();
      const text = `${body.repository.full_name}: ${body.issue.title} ${body.issue.html_url}`;
      const message = sidecar("chat").request().post("/v1/messages").header("idempotency-key", delivery).json({ text });
      return (await message.timeout(5000).send()).ok ? accepted() : error(502, "the chat did not take the message");
    }),
  },
  { onError: (thrown) => (unreachable(thrown) ? error(502, "the chat cannot be reached") : undefined) },
);
