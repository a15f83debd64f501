wrk.method = "POST"
wrk.body = '{"name":"Ada"}'
wrk.headers["Content-Type"] = "application/json"
