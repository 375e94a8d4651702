package configs

import (
	"context"

	"davit"
	"davit/internal/wire"
)

var errNotYet = davit.Errorf(davit.CodeInvalid, "not there yet")

// Service manages the config files of a home.
type Service struct {
	files func() Files
}

// New makes a Service.
func New(files func() Files) *Service { return &Service{files: files} }

// List answers config.list.
func (s *Service) List(ctx context.Context, dir string) (wire.ConfigList, error) {
	return s.files().List(), nil
}

func (s *Service) Check(ctx context.Context, in wire.ConfigCheck) (wire.Faults, error) {
	return wire.Faults{}, errNotYet
}
func (s *Service) Read(ctx context.Context, path string) (wire.ConfigFile, error) {
	return wire.ConfigFile{}, errNotYet
}
func (s *Service) Save(ctx context.Context, in wire.ConfigSave) (wire.ConfigFile, error) {
	return wire.ConfigFile{}, errNotYet
}
func (s *Service) New(ctx context.Context, in wire.ConfigNew) (wire.ConfigFile, error) {
	return wire.ConfigFile{}, errNotYet
}
func (s *Service) Remove(ctx context.Context, in wire.ConfigRef) error     { return errNotYet }
func (s *Service) SetDefault(ctx context.Context, in wire.ConfigRef) error { return errNotYet }
func (s *Service) SaveTab(ctx context.Context, in wire.ConfigSaveTab) (wire.ConfigFile, error) {
	return wire.ConfigFile{}, errNotYet
}
func (s *Service) Trust(ctx context.Context, in wire.ConfigRef) (wire.ConfigTrusted, error) {
	return wire.ConfigTrusted{}, errNotYet
}
func (s *Service) Untrust(ctx context.Context, in wire.ConfigRef) error { return errNotYet }
func (s *Service) Skills() []wire.Skill                                 { return nil }
func (s *Service) OpenWorktree(ctx context.Context, in wire.WorktreeOpen) (wire.WorktreeOpened, error) {
	return wire.WorktreeOpened{}, errNotYet
}
func (s *Service) Branches(ctx context.Context, in wire.InRequest) (wire.BranchList, error) {
	return wire.BranchList{}, errNotYet
}
func (s *Service) AddWorkspace(ctx context.Context, path string) (wire.Workspace, error) {
	return wire.Workspace{}, errNotYet
}
func (s *Service) ForgetWorkspace(ctx context.Context, path string) error { return errNotYet }
