import {
  accepted,
  ensure,
  error,
  field,
  get,
  group,
  HttpClientError,
  noContent,
  ok,
  post,
  routes,
  SidecarError,
  secret,
  sidecar,
  signature,
  Type,
} from "@tenon/sdk";

/** What of GitHub's event `issues` is of interest here; the rest of it is ignored. */
const IssueEvent = Type("IssueEvent", {
  action: field.string(),
  issue: Type("Issue", { title: field.string(), html_url: field.string({ format: "uri" }) }),
  repository: Type("Repository", { full_name: field.string() }),
});

const github = group(
  "/github",
  {
    /** Tell the chat of each issue that is opened. */
    issues: post("/issues", { body: IssueEvent, status: 202 }, async ({ body }, req) => {
      const delivery = ensure(req.headers.get("x-github-delivery"), 400, "the delivery has no id");
      const { action, issue, repository } = body;
      if (action !== "opened") return accepted();
      // GitHub delivers again what it is not sure of, and the sidecar repeats what failed: the chat says it once.
      const answer = await sidecar("chat")
        .request()
        .post("/v1/messages")
        .header("idempotency-key", delivery)
        .json({ text: `${repository.full_name}: ${issue.title} ${issue.html_url}` })
        .send();
      return answer.ok ? accepted() : error(502, "the chat did not take the message");
    }),
    /** GitHub asks once whether anybody is here. */
    ping: post("/ping", { status: 204 }, () => noContent()),
  },
  { use: [signature({ scheme: "github", secret: () => secret("GITHUB") })] },
);

export default routes(
  {
    /** Service banner. */
    index: get(["/", ""], () => ok({ service: "webhooks", message: "GitHub's webhooks go to /github/issues" })),
    github,
  },
  {
    // Whatever is wrong with the chat: GitHub shows the answer, and delivers again when it is asked to.
    onError: (thrown) =>
      thrown instanceof SidecarError || thrown instanceof HttpClientError
        ? error(502, "the chat cannot be reached")
        : undefined,
  },
);
