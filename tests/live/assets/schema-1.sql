CREATE SCHEMA grbp;
CREATE TABLE grbp.cases (
    id bigint NOT NULL,
    first bigint NOT NULL,
    state bigint NOT NULL,
    threshold bigint NOT NULL,
    status text NOT NULL COLLATE pg_catalog."C",
    steps bigint NOT NULL,
    overruled bigint NOT NULL,
    f bigint NOT NULL,
    f_goal bigint NOT NULL,
    c bigint NOT NULL,
    c_up bigint NOT NULL,
    held bigint NOT NULL,
    held_f bigint NOT NULL,
    settled bigint NOT NULL,
    opened text NOT NULL COLLATE pg_catalog."C",
    since text NOT NULL COLLATE pg_catalog."C",
    known text NOT NULL COLLATE pg_catalog."C",
    version text NOT NULL COLLATE pg_catalog."C",
    last bigint NOT NULL
);
CREATE TABLE grbp.events (
    id bigint NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    "case" bigint NOT NULL,
    step bigint NOT NULL,
    request text NOT NULL COLLATE pg_catalog."C",
    response text NOT NULL COLLATE pg_catalog."C",
    who text NOT NULL COLLATE pg_catalog."C",
    recorded text NOT NULL COLLATE pg_catalog."C",
    observed text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    previous text NOT NULL COLLATE pg_catalog."C",
    hash text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE grbp.held (
    study bigint NOT NULL,
    "case" bigint NOT NULL,
    step bigint NOT NULL,
    due text NOT NULL COLLATE pg_catalog."C",
    seq bigint NOT NULL
);
CREATE TABLE grbp.meta (
    version bigint NOT NULL
);
CREATE TABLE grbp.studies (
    id bigint NOT NULL,
    study text NOT NULL COLLATE pg_catalog."C",
    config text NOT NULL COLLATE pg_catalog."C"
);
INSERT INTO grbp.cases VALUES (1099511627777, 2, 4, 0, 'won', 2, 1, 1, 1, 1, 1, 0, 0, 1, '2026-01-01T01:00:00.000000+00:00', '2026-01-01T04:00:00.000000+00:00', '[1,1.0,0.17387032083123755,1.0,0.7978089841070879,0.0,0.0,0.0,0.0,0]', '0.1.0', 5);
INSERT INTO grbp.cases VALUES (1099511627778, 1, 1, 0, 'open', 0, 0, 0, 0, 0, 0, 0, 0, 0, '2026-01-01T02:00:00.000000+00:00', '2026-01-01T02:00:00.000000+00:00', '[2,1.0,0.17387032083123755,1.0,0.7978089841070879,0.0,0.0,0.0,0.0,0]', '0.1.0', 7);
INSERT INTO grbp.cases VALUES (1099511627779, 3, 3, 1, 'closed', 0, 0, 0, 0, 0, 0, 0, 0, 1, '2026-01-01T07:00:00.000000+00:00', '2026-01-01T07:00:00.000000+00:00', '[3,2.0,1.1738703208312375,2.0,1.797808984107088,0.0,0.0,0.0,0.0,0]', '0.1.0', 9);
INSERT INTO grbp.cases VALUES (2199023255553, 1, 2, 0, 'open', 1, 0, 0, 0, 1, 1, 0, 0, 0, '2026-01-01T10:00:00.000000+00:00', '2026-01-01T11:00:00.000000+00:00', '[1,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0]', '0.1.0', 8);
INSERT INTO grbp.cases VALUES (2199023255554, 1, 2, 0, 'open', 1, 0, 0, 0, 1, 1, 0, 0, 0, '2026-01-01T12:00:00.000000+00:00', '2026-01-01T13:00:00.000000+00:00', '[2,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0]', '0.1.0', 9);
INSERT INTO grbp.cases VALUES (2199023255555, 1, 3, 0, 'won', 2, 1, 0, 0, 1, 1, 1, 1, 0, '2026-01-01T14:00:00.000000+00:00', '2026-01-02T22:00:00.000000+00:00', '[3,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0]', '0.1.0', 11);
INSERT INTO grbp.events VALUES (1099511627777, 'study', 0, 0, '{"config":{"name":"ward","goal":4,"learner":"doorstep-kl","constants":{},"seed":3,"shadow":false,"windows":{},"start":"drawn","level":0.95,"version":"0.1.0"}}', '{"before":0,"study":[0,0,0,0,0,0,0,0,0],"counters":[1,1.0,0.17387032083123755,1.0,0.7978089841070879,0.0,0.0,0.0,0.0]}', 'Ada', '2026-01-01T00:00:00.000000+00:00', '', '', '0000000000000000000000000000000000000000000000000000000000000000', '5a918e7a466a7b566d4132bf5e17ae695253f00c4c7b15449a22601f0547ed1f');
INSERT INTO grbp.events VALUES (1099511627778, 'open', 1, 0, '{"state":2}', '{"state":2,"status":"open","step":0,"action":"continue","threshold":0,"version":"0.1.0","known":[1,1.0,0.17387032083123755,1.0,0.7978089841070879,0.0,0.0,0.0,0.0,0],"draw":12244649661903851896,"learner":"doorstep-kl","before":0,"study":[1,0,0,0,0,0,0,0,0],"counters":[1,1.0,0.17387032083123755,1.0,0.7978089841070879,0.0,0.0,0.0,0.0]}', 'Ada', '2026-01-01T01:00:00.000000+00:00', '', 'bed 7', '5a918e7a466a7b566d4132bf5e17ae695253f00c4c7b15449a22601f0547ed1f', '5c533593b52912c15a57b6a0a99a4d062c1fe472cff91be000ac3ec5c3645d2c');
INSERT INTO grbp.events VALUES (1099511627779, 'open', 2, 0, '{"state":1}', '{"state":1,"status":"open","step":0,"action":"continue","threshold":0,"version":"0.1.0","known":[2,1.0,0.17387032083123755,1.0,0.7978089841070879,0.0,0.0,0.0,0.0,0],"draw":18418479947289039324,"learner":"doorstep-kl","before":0,"study":[2,0,0,0,0,0,0,0,0],"counters":[1,1.0,0.17387032083123755,1.0,0.7978089841070879,0.0,0.0,0.0,0.0]}', 'Ada', '2026-01-01T02:00:00.000000+00:00', '', '', '5c533593b52912c15a57b6a0a99a4d062c1fe472cff91be000ac3ec5c3645d2c', '4adedd5345aa3141700eed4d2db352195abe4edfe98b10b24e63f271741ebc74');
INSERT INTO grbp.events VALUES (1099511627780, 'tell', 1, 1, '{"case":1,"state":3,"took":null,"why":"","step":null}', '{"state":3,"status":"open","step":1,"action":"continue","from":2,"took":"continue","advised":"continue","counted":true,"before":2,"study":[2,0,0,0,0,0,0,1,1],"counters":[1,1.0,0.17387032083123755,1.0,0.7978089841070879,0.0,0.0,0.0,0.0]}', 'Ada', '2026-01-01T03:00:00.000000+00:00', '2026-01-01T00:00:00.000000+00:00', '', '4adedd5345aa3141700eed4d2db352195abe4edfe98b10b24e63f271741ebc74', '8741428b82a81d4b7bb6e0baea500fb3881b8407361a9c35e4fe67cd20953c9e');
INSERT INTO grbp.events VALUES (1099511627781, 'tell', 1, 2, '{"case":1,"state":4,"took":"finish","why":"a bed was free","step":null}', '{"state":4,"status":"won","step":2,"action":null,"from":3,"took":"finish","advised":"continue","counted":true,"before":4,"study":[2,1,0,0,0,0,0,0,0],"counters":[2,2.0,1.1738703208312375,2.0,1.797808984107088,0.0,0.0,0.0,0.0]}', 'Øyvind 日本', '2026-01-01T04:00:00.000000+00:00', '', '', '8741428b82a81d4b7bb6e0baea500fb3881b8407361a9c35e4fe67cd20953c9e', '5c70cf0ce0f64732d7d36fc497ee5fdb4aecd3d791c183cb615b1a6a77430f66');
INSERT INTO grbp.events VALUES (1099511627782, 'tell', 2, 1, '{"case":2,"state":0,"took":null,"why":"","step":null}', '{"state":0,"status":"lost","step":1,"action":null,"from":1,"took":"continue","advised":"continue","counted":true,"before":3,"study":[2,1,1,0,0,0,0,0,0],"counters":[3,2.0,1.1738703208312375,3.0,1.797808984107088,1.0,0.0,0.0,0.0]}', 'Ada', '2026-01-01T05:00:00.000000+00:00', '', 'the second', '5c70cf0ce0f64732d7d36fc497ee5fdb4aecd3d791c183cb615b1a6a77430f66', 'eb77704f4d35315e4130de20f6c324ae3930c4c129fc41cc4187ff28a6e1287c');
INSERT INTO grbp.events VALUES (1099511627783, 'void', 2, 1, '{"case":2,"why":"it was the other bed","step":null}', '{"state":1,"status":"open","step":0,"action":"continue","before":6,"study":[2,1,0,0,0,0,0,0,0],"counters":[2,2.0,1.1738703208312375,2.0,1.797808984107088,0.0,0.0,0.0,0.0]}', 'Ada', '2026-01-01T06:00:00.000000+00:00', '', '', 'eb77704f4d35315e4130de20f6c324ae3930c4c129fc41cc4187ff28a6e1287c', 'e9b0a17a6f4a674c8cf61342da9538e082f65c7720c13b4f9b1af98ef3910046');
INSERT INTO grbp.events VALUES (1099511627784, 'open', 3, 0, '{"state":3}', '{"state":3,"status":"open","step":0,"action":"continue","threshold":1,"version":"0.1.0","known":[3,2.0,1.1738703208312375,2.0,1.797808984107088,0.0,0.0,0.0,0.0,0],"draw":4212573407822603172,"learner":"doorstep-kl","before":0,"study":[3,1,0,0,0,0,0,0,0],"counters":[2,2.0,1.1738703208312375,2.0,1.797808984107088,0.0,0.0,0.0,0.0]}', 'Ada', '2026-01-01T07:00:00.000000+00:00', '', '', 'e9b0a17a6f4a674c8cf61342da9538e082f65c7720c13b4f9b1af98ef3910046', 'e1746598d677c8750c4c11e4efb5f3d5ffd1cf0e7e0ba261efbfd14fcf2ac47a');
INSERT INTO grbp.events VALUES (1099511627785, 'close', 3, 0, '{"case":3,"why":"moved to another ward"}', '{"state":3,"status":"closed","step":0,"action":null,"before":8,"study":[3,1,0,1,0,0,0,0,0],"counters":[2,2.0,1.1738703208312375,2.0,1.797808984107088,0.0,0.0,0.0,0.0]}', 'Ada', '2026-01-01T08:00:00.000000+00:00', '', '', 'e1746598d677c8750c4c11e4efb5f3d5ffd1cf0e7e0ba261efbfd14fcf2ac47a', 'c7cbc607727497ff66b619d1464ee73f83197b06306e5bbaa37c85536ffbc0a8');
INSERT INTO grbp.events VALUES (2199023255553, 'study', 0, 0, '{"config":{"name":"Gr\u00f6\u00dfe","goal":3,"learner":"getbe-sm","constants":{"gamma":15.0},"seed":0,"shadow":true,"windows":{"continue":86400.0,"finish":2592000.0},"start":"first","level":0.95,"version":"0.1.0"}}', '{"before":0,"study":[0,0,0,0,0,0,0,0,0],"counters":[1,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0]}', 'Ada', '2026-01-01T09:00:00.000000+00:00', '', '', '0000000000000000000000000000000000000000000000000000000000000000', '98d35f885e17fc2b24715e9c58479a04f53456466f914c4cbac7ae98ee772bec');
INSERT INTO grbp.events VALUES (2199023255554, 'open', 1, 0, '{"state":1}', '{"state":1,"status":"open","step":0,"action":"continue","threshold":0,"version":"0.1.0","known":[1,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0],"draw":9771507913574985307,"learner":"getbe-sm","before":0,"study":[1,0,0,0,0,0,0,0,0],"counters":[1,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0]}', 'Ada', '2026-01-01T10:00:00.000000+00:00', '', '', '98d35f885e17fc2b24715e9c58479a04f53456466f914c4cbac7ae98ee772bec', '6648cd5d6e9f6b31e56d6e9089d4b58670638a38529c0754d2e633f82f2efb51');
INSERT INTO grbp.events VALUES (2199023255555, 'tell', 1, 1, '{"case":1,"state":2,"took":"continue","why":"as always","step":null}', '{"state":2,"status":"open","step":1,"action":"continue","from":1,"took":"continue","advised":"continue","counted":false,"before":2,"study":[1,0,0,0,0,0,0,0,0],"counters":[1,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0]}', 'Ada', '2026-01-01T11:00:00.000000+00:00', '', '', '6648cd5d6e9f6b31e56d6e9089d4b58670638a38529c0754d2e633f82f2efb51', '4b29a71b72e4e6978d6d357aefada99679fba9302459ead84ee76eae3f66e2a5');
INSERT INTO grbp.events VALUES (2199023255556, 'open', 2, 0, '{"state":1}', '{"state":1,"status":"open","step":0,"action":"continue","threshold":0,"version":"0.1.0","known":[2,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0],"draw":3534243657434133056,"learner":"getbe-sm","before":0,"study":[2,0,0,0,0,0,0,0,0],"counters":[1,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0]}', 'Ada', '2026-01-01T12:00:00.000000+00:00', '', '', '4b29a71b72e4e6978d6d357aefada99679fba9302459ead84ee76eae3f66e2a5', '395698a5cdaeec2ca89bda6b76ce6a65ca11b01c33706b55335764fb725d4ea1');
INSERT INTO grbp.events VALUES (2199023255557, 'tell', 2, 1, '{"case":2,"state":2,"took":"continue","why":"as always","step":null}', '{"state":2,"status":"open","step":1,"action":"continue","from":1,"took":"continue","advised":"continue","counted":false,"before":4,"study":[2,0,0,0,0,0,0,0,0],"counters":[1,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0]}', 'Ada', '2026-01-01T13:00:00.000000+00:00', '', '', '395698a5cdaeec2ca89bda6b76ce6a65ca11b01c33706b55335764fb725d4ea1', '4218cd83036fac355e9ce7fb61da194a0d2df261fab01c79b2a7cf3e1075d9d7');
INSERT INTO grbp.events VALUES (2199023255558, 'open', 3, 0, '{"state":1}', '{"state":1,"status":"open","step":0,"action":"continue","threshold":0,"version":"0.1.0","known":[3,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0],"draw":15608624037093954736,"learner":"getbe-sm","before":0,"study":[3,0,0,0,0,0,0,0,0],"counters":[1,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0]}', 'Ada', '2026-01-01T14:00:00.000000+00:00', '', '', '4218cd83036fac355e9ce7fb61da194a0d2df261fab01c79b2a7cf3e1075d9d7', 'fb5d42c815b5870f90bc8138e4cea77c2145e6e437b957f8a3d297b57d059324');
INSERT INTO grbp.events VALUES (2199023255559, 'tell', 3, 1, '{"case":3,"state":2,"took":"continue","why":"as always","step":null}', '{"state":2,"status":"open","step":1,"action":"continue","from":1,"took":"continue","advised":"continue","counted":false,"before":6,"study":[3,0,0,0,0,0,0,0,0],"counters":[1,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0]}', 'Ada', '2026-01-01T15:00:00.000000+00:00', '', '', 'fb5d42c815b5870f90bc8138e4cea77c2145e6e437b957f8a3d297b57d059324', '09964cda5f299e2a5a596b39eaf060e9768c00098e02e42a71a9fc3c9deca3f9');
INSERT INTO grbp.events VALUES (2199023255560, 'mature', 1, 1, '{"case":1,"step":1}', '{"step":1,"before":3,"study":[3,0,0,0,0,0,0,1,1],"counters":[1,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0]}', 'Ada', '2026-01-02T22:00:00.000000+00:00', '', '', '09964cda5f299e2a5a596b39eaf060e9768c00098e02e42a71a9fc3c9deca3f9', '2c7b84ced2a1fd1e171753797b0f5268e0d848bb8d1478f5dd5391e1737a52d8');
INSERT INTO grbp.events VALUES (2199023255561, 'mature', 2, 1, '{"case":2,"step":1}', '{"step":1,"before":5,"study":[3,0,0,0,0,0,0,2,2],"counters":[1,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0]}', 'Ada', '2026-01-02T22:00:00.000000+00:00', '', '', '2c7b84ced2a1fd1e171753797b0f5268e0d848bb8d1478f5dd5391e1737a52d8', 'cfd3aa9b4cc9a5decfe3ce4e0371d6fea72c60f6d034d5b9ce9df09a4a4b9d45');
INSERT INTO grbp.events VALUES (2199023255562, 'mature', 3, 1, '{"case":3,"step":1}', '{"step":1,"before":7,"study":[3,0,0,0,0,0,0,3,3],"counters":[1,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0]}', 'Ada', '2026-01-02T22:00:00.000000+00:00', '', '', 'cfd3aa9b4cc9a5decfe3ce4e0371d6fea72c60f6d034d5b9ce9df09a4a4b9d45', 'a1b6ae6025c1fbb83d9cec418ab7ea6ea4ceb083daea2bbdfb1c7ce085059c9d');
INSERT INTO grbp.events VALUES (2199023255563, 'tell', 3, 2, '{"case":3,"state":3,"took":"finish","why":"as always","step":null}', '{"state":3,"status":"won","step":2,"action":null,"from":2,"took":"finish","advised":"continue","counted":false,"before":10,"study":[3,1,0,0,1,0,0,3,3],"counters":[1,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0]}', 'Ada', '2026-01-02T22:00:00.000000+00:00', '', '', 'a1b6ae6025c1fbb83d9cec418ab7ea6ea4ceb083daea2bbdfb1c7ce085059c9d', '1f73c9a08ce04106d9854ff9d8bf71eec1270d97b4607f5b7b06def17cdb33f6');
INSERT INTO grbp.held VALUES (2, 3, 2, '2026-01-31T15:00:00.000000+00:00', 11);
INSERT INTO grbp.meta VALUES (1);
INSERT INTO grbp.studies VALUES (1, 'ward', '{"name":"ward","goal":4,"learner":"doorstep-kl","constants":{},"seed":3,"shadow":false,"windows":{},"start":"drawn","level":0.95,"version":"0.1.0"}');
INSERT INTO grbp.studies VALUES (2, 'Größe', '{"name":"Gr\u00f6\u00dfe","goal":3,"learner":"getbe-sm","constants":{"gamma":15.0},"seed":0,"shadow":true,"windows":{"continue":86400.0,"finish":2592000.0},"start":"first","level":0.95,"version":"0.1.0"}');
ALTER TABLE ONLY grbp.cases
    ADD CONSTRAINT cases_pkey PRIMARY KEY (id);
ALTER TABLE ONLY grbp.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (id);
ALTER TABLE ONLY grbp.held
    ADD CONSTRAINT held_pkey PRIMARY KEY (study, "case", step);
ALTER TABLE ONLY grbp.studies
    ADD CONSTRAINT studies_pkey PRIMARY KEY (id);
ALTER TABLE ONLY grbp.studies
    ADD CONSTRAINT studies_study_key UNIQUE (study);
CREATE INDEX cases_status ON grbp.cases USING btree (status, id);
CREATE UNIQUE INDEX events_key ON grbp.events USING btree (((id >> 40)), key) WHERE (key <> ''::text);
CREATE INDEX held_due ON grbp.held USING btree (study, due, "case", step);
ALTER TABLE ONLY grbp.held
    ADD CONSTRAINT held_study_fkey FOREIGN KEY (study) REFERENCES grbp.studies(id);
