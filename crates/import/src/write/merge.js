// Asks several backends, and makes one object of what they answer. `config_data` has `path`, an expression with a group for each of `names`; `headers`
// and `query` with the names of what is passed on; `sequential`; and `parts`, each with `hosts`, `method`, `path` and the shape of what comes back.

function merged(request, session, config) {
  var plan = config.config_data;
  var found = new RegExp(plan.path).exec(request.URL.split("?")[0]) || [];
  var known = Object.create(null);
  plan.names.forEach(function (name, index) { known[name] = found[index + 1]; });
  var all = Object.create(null), answered = 0, results = [];
  var parts = plan.sequential ? plan.parts.map(function (part) { return [part]; }) : [plan.parts];
  for (var turn = 0; turn < parts.length && answered === results.length; turn++) {
    var questions = parts[turn].map(function (part) { return question(part, plan, request, known); });
    var answers = JSON.parse(TykBatchRequest(JSON.stringify({ requests: questions })));
    parts[turn].forEach(function (part, index) {
      var object = shaped(part, answers[index]);
      results.push(object);
      if (object) {
        answered++;
        Object.keys(object).forEach(function (key) { all[key] = object[key]; });
        values("resp" + (results.length - 1) + "_", object, known);
      }
    });
  }
  if (answered === 0) {
    return TykJsResponse({ Body: "", Headers: { "X-Krakend-Completed": "false" }, Code: 500 }, session.meta_data);
  }
  var isComplete = answered === plan.parts.length;
  var headers = { "Content-Type": "application/json; charset=utf-8", "X-Krakend-Completed": String(isComplete) };
  return TykJsResponse({ Body: JSON.stringify(all), Headers: headers, Code: 200 }, session.meta_data);
}

function question(part, plan, request, known) {
  var path = part.path.replace(/\{([^{}]*)\}/g, function (whole, name) { return name in known ? known[name] : encodeURIComponent(whole); });
  var query = [];
  Object.keys(request.Params).forEach(function (name) {
    if (plan.query.indexOf("*") >= 0 || plan.query.indexOf(name) >= 0) {
      request.Params[name].forEach(function (value) { query.push(encodeURIComponent(name) + "=" + encodeURIComponent(value)); });
    }
  });
  if (query.length > 0) {
    path += (path.indexOf("?") < 0 ? "?" : "&") + query.join("&");
  }
  var headers = {};
  Object.keys(request.Headers).forEach(function (name) {
    var isListed = function (listed) { return listed === "*" || listed.toLowerCase() === name.toLowerCase(); };
    if (plan.headers.some(isListed) || name === "X-Forwarded-For") {
      headers[name] = request.Headers[name].join(", ");
    }
  });
  var host = part.hosts[Math.floor(Math.random() * part.hosts.length)];
  return { method: part.method, relative_url: host + path, headers: headers, body: part.method === "GET" ? "" : request.Body };
}

// The object that a backend's answer becomes, or nothing.
function shaped(part, answer) {
  if (answer.code !== 200 && answer.code !== 201) {
    return null;
  }
  var body;
  try {
    body = JSON.parse(answer.body);
  } catch (error) {
    return null;
  }
  if (Array.isArray(body) ? part.any || part.list : part.any && !isObject(body)) {
    body = Array.isArray(body) ? { collection: body } : { content: body };
  } else if (!isObject(body) || part.list) {
    return null;
  }
  part.target.forEach(function (name) { body = isObject(body) && isObject(body[name]) ? body[name] : {}; });
  if (Object.keys(part.allowed).length > 0) {
    body = kept(body, part.allowed);
  }
  part.denied.forEach(function (path) { remove(body, path); });
  part.renamed.forEach(function (pair) {
    if (pair[0] in body) {
      var value = body[pair[0]];
      delete body[pair[0]];
      body[pair[1]] = value;
    }
  });
  if (part.group) {
    var group = {};
    group[part.group] = body;
    body = group;
  }
  return body;
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function kept(object, tree) {
  var result = {};
  Object.keys(object).forEach(function (key) {
    var below = Object.prototype.hasOwnProperty.call(tree, key) ? tree[key] : null;
    if (below === true) {
      result[key] = object[key];
    } else if (below && isObject(object[key])) {
      var inner = kept(object[key], below);
      if (Object.keys(inner).length > 0) {
        result[key] = inner;
      }
    }
  });
  return result;
}

function remove(object, path) {
  for (var index = 0; index < path.length - 1 && isObject(object); index++) {
    object = object[path[index]];
  }
  if (isObject(object)) {
    delete object[path[path.length - 1]];
  }
}

// Values of an answer for the paths of those that are asked after it.
function values(prefix, object, known) {
  Object.keys(object).forEach(function (key) {
    var value = object[key];
    if (isObject(value)) {
      values(prefix + key + ".", value, known);
    } else if (value !== null) {
      known[prefix + key] = encodeURIComponent(Array.isArray(value) ? value.join(",") : String(value));
    }
  });
}
